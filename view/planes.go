package view

import (
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// planes is the stream of those who read the planes of a mosaic from files of their own, as a stack of images is
// read: to the stream, one plane after the other is a volume from begin to end. It outlives the files, which are
// opened and closed one by one.
type planes struct {
	mu     sync.Mutex
	stream *stream // nil: nobody has read a plane lately
	users  int     // open files
	rest   *time.Timer
}

// linger is how long a stream of planes waits for somebody to open another one.
const linger = 5 * time.Second

// plane returns what a file of the box, in absolute voxels of the mag, is to the stream of planes: how many bytes lie
// in front of it. It is one plane, and all of it, of a volume that is a file itself.
func (m *mosaic) plane(box volume.Box) (begin int64, ok bool) {
	whole, grid := m.bounds, m.grid
	grid.Size = whole.Size()
	whole.Min[2], whole.Max[2] = box.Min[2], box.Min[2]+1
	if box != whole || box.Intersect(m.bounds).Empty() || grid.Validate() != nil {
		return 0, false
	}
	grid.Size[2] = 1
	return int64(box.Min[2]-m.bounds.Min[2]) * grid.Bytes(), true
}

// join returns the stream for a file that was opened; nil if there is none. leave ends it.
func (p *planes) join(m *mosaic, s *slabs) *stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
	if p.rest != nil {
		p.rest.Stop()
	}
	if p.stream == nil {
		if p.stream = newStream(m.flat(m.bounds), 0, s); p.stream != nil {
			m.addFile()
		}
	}
	return p.stream
}

// leave tells of a file that was closed.
func (p *planes) leave(m *mosaic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 && p.stream != nil {
		p.rest = time.AfterFunc(linger, func() { p.end(m) })
	}
}

// end closes the stream, unless somebody has joined it again.
func (p *planes) end(m *mosaic) {
	p.mu.Lock()
	if p.users > 0 || p.stream == nil {
		p.mu.Unlock()
		return
	}
	ended := p.stream
	p.stream = nil
	p.mu.Unlock()
	ended.close()
	m.Close()
}
