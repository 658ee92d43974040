package view

import (
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// planes finds those who read the planes of a mosaic from files of their own, one after the other, as a stack of images
// is read. To a stream their files are one volume, from begin to end. Who picks planes is served block by block, and
// finds in the cache what others have read. The files are those of slices, and of boxes of one whole plane.
type planes struct {
	mu    sync.Mutex
	lanes []*lane // the one that was entered last comes last
}

// lane is a reader who may be reading planes in their order, or a program of some threads that do.
type lane struct {
	last   int    // the plane with the largest z that was opened
	opened uint64 // which planes were: the lowest bit is that of the last one, the next that of the one before
	users  int    // open files
	joined int    // how often
	stream *stream
}

const (
	// inLine is planes that follow each other, as bits: whoever has opened so many wants more.
	inLine = 0b1111
	// astray is how far from the last plane the next one may be: threads do not come in order.
	astray = 4
	// maxLanes is how many readers are told from each other, of those who are not in line.
	maxLanes = 8
	// linger is how long a lane waits for somebody to open another plane.
	linger = 5 * time.Second
)

// plane returns the z of a file of the box, both in absolute voxels of the mag, and how many bytes lie in front of it in the
// volume. The box is one plane, and all of it, of a volume that is a file itself.
func (m *mosaic) plane(box volume.Box) (z int, begin int64, ok bool) {
	whole, grid := m.bounds, m.grid
	grid.Size = whole.Size()
	whole.Min[2], whole.Max[2] = box.Min[2], box.Min[2]+1
	if box != whole || box.Intersect(m.bounds).Empty() || grid.Validate() != nil {
		return 0, 0, false
	}
	grid.Size[2] = 1
	return box.Min[2], int64(box.Min[2]-m.bounds.Min[2]) * grid.Bytes(), true
}

// join returns the lane of a plane that was opened. leave has to follow.
func (p *planes) join(m *mosaic, z int, s *slabs) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, on := p.enter(z)
	l.users++
	l.joined++
	if on && l.stream == nil && l.opened&inLine == inLine {
		if l.stream = newStream(m.flat(m.bounds), 0, s); l.stream != nil {
			l.stream.known = true
			m.addFile() // the stream outlives the files
		}
	}
	return l
}

// enter returns the lane that a plane is in, a new one if it is close to none, and whether it comes after all that were
// opened there. It is called with mu held.
func (p *planes) enter(z int) (l *lane, on bool) {
	i := slices.IndexFunc(p.lanes, func(l *lane) bool { return l.last-astray <= z && z <= l.last+astray })
	if i < 0 {
		p.forget()
		l = &lane{last: z, opened: 1}
		p.lanes = append(p.lanes, l)
		return l, false
	}
	l = p.lanes[i]
	p.lanes = append(slices.Delete(p.lanes, i, i+1), l)
	if z <= l.last {
		l.opened |= 1 << (l.last - z)
		return l, false
	}
	l.opened = l.opened<<(z-l.last) | 1
	l.last = z
	return l, true
}

// forget makes room for another lane, if there is one that nobody misses. It is called with mu held.
func (p *planes) forget() {
	if len(p.lanes) < maxLanes {
		return
	}
	if i := slices.IndexFunc(p.lanes, func(l *lane) bool { return l.users == 0 && l.stream == nil }); i >= 0 {
		p.lanes = slices.Delete(p.lanes, i, i+1)
	}
}

// leave tells of a file that was closed.
func (p *planes) leave(m *mosaic, l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.users--; l.users == 0 {
		joined := l.joined
		time.AfterFunc(linger, func() { p.end(m, l, joined) })
	}
}

// end ends a lane that nobody has joined since it had been so often.
func (p *planes) end(m *mosaic, l *lane, joined int) {
	p.mu.Lock()
	i := slices.Index(p.lanes, l)
	if i < 0 || l.joined != joined {
		p.mu.Unlock()
		return
	}
	p.lanes = slices.Delete(p.lanes, i, i+1)
	p.mu.Unlock()
	if l.stream != nil {
		l.stream.close()
		m.Close()
	}
}
