package prefetch

import (
	"maps"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// plan decides what is done for the reads of a file, and before them: how large the window is, which portions are
// decoded, what is announced. It is pure: no clock, no goroutine, no I/O. The speed of the source is an argument, and
// the [Reader] says which portions it has started. So tests try all cases.
type plan struct {
	access
	layout  layout
	state   state
	pushing bool // portions are pushed to the sink

	share int64 // a quarter of what can be reserved
	// a read of all of the array needs no portion, and any read at its start makes the reader sequential
	whole     bool
	fewBlocks bool // a program that reads all of the array once, in large pieces, needs no page cache
	undecided bool // the reader may stop in the slab that it has reached: the next one is not started
	alone     bool // one thread reads

	thin      bool         // there was not enough memory for portions of more than a slab
	origin    int          // number of the part at which the reader has begun, or went on after a jump
	started   map[int]bool // parts of the slab that the reader has reached, and later ones: they are not started again
	reached   int          // number of the part that the reader has reached
	current   part         // the portion that was found in memory last
	announced int          // number of the part after the last one that was announced
}

// state is how a Reader is read and what its portions are for. The package comment draws the transitions.
type state int

const (
	random     state = iota // no portions; blocks are read through the cache
	sequential              // the window moves along with the reader
	paused                  // the window of a sequential reader that reads elsewhere for now
)

// newPlan returns the plan of an array that was not read yet. Guesses, and the window of a late source, may use share
// bytes.
func newPlan(a *flat.Array, h Hint, share int64, l *limits) plan {
	p := plan{layout: newLayout(a, l), share: share}
	bytes := p.layout.arrayBytes()
	p.whole, p.fewBlocks = h == HintOnce && bytes <= l.maxSmall, bytes <= l.maxOnce
	p.access = newAccess(a, h, p.whole, share, l)
	return p
}

// world is what a plan has to know besides a read.
type world struct {
	speed   vfs.Speed // of the source
	all     bool      // the sink takes all decoded bytes
	accepts bool      // there is a sink, and it takes more
}

// memory does what a plan decides, as far as it can. It is the [ledger] of a Reader, or that of a test.
type memory interface {
	// reserve reserves memory until the window has n bytes. With reclaim, idle readers lose their portions to make
	// room.
	reserve(n int64, reclaim bool) bool
	// find returns the portion in memory that has part i.
	find(i int) (s part, ok bool)
	// start starts to decode a portion. To make room, portions leave memory that are not in use and behind the reader,
	// and the window grows up to most bytes. If that is not enough, it does nothing and returns false.
	start(s part, most int64, isBehind func(part) bool) bool
	// announce tells the source what is read next.
	announce(blocks volume.Box)
	// release ends the window, with all portions.
	release()
}

// read decides about a read of n bytes, and has m do it. It returns the portion that has the byte at off, whether it is
// in memory, and what the read tells about its reader.
func (p *plan) read(off, n int64, w world, m memory) (s part, ok bool, h habit) {
	h = p.observe(off, n)
	p.follow(off, h.sequential, w, m)
	s, ok = p.prepare(off, n, w, m)
	return s, ok, h
}

// follow changes the state after a read, and gets a window for a sequential reader, or gives it back.
func (p *plan) follow(off int64, sequentially bool, w world, m memory) {
	switch {
	case p.state == random && sequentially:
		for _, x := range p.windows(w) {
			if m.reserve(x.memory, x.reclaim) {
				p.enter(x, off)
				break
			}
		}
	case p.state == paused && sequentially:
		p.state = sequential
	case p.state == sequential && !sequentially:
		p.state = paused
	}
	if p.pushing && !w.accepts {
		if p.pushing = false; p.layout.perSlab() > 1 { // each portion would be decoded for one plane
			m.release()
			p.leave()
		}
	}
}

// prepare starts the portion that has the byte at off, and the next ones, if it is time to. It returns the first one,
// and whether it is in memory.
func (p *plan) prepare(off, n int64, w world, m memory) (s part, ok bool) {
	if p.state == random {
		return s, false
	}
	if s, ok = m.find(p.layout.at(off)); !ok {
		if s = p.portionAt(off, w.speed); p.isLate(s, off) || !p.start(s, s, w, m) {
			return s, false
		}
	}
	p.current = s
	if p.state != sequential {
		return s, true
	}
	last := s
	for range p.ahead(s, off, n, w.speed) {
		i := p.numberAt(p.place(last.number) + last.count)
		if i >= p.layout.count() {
			break
		}
		next, ok := m.find(i)
		if !ok {
			if next = p.portion(i, w.speed); !p.start(next, s, w, m) {
				break
			}
		}
		last = next
	}
	return s, true
}

// start starts a portion, of a reader that reads current, unless it was started before: one that is needed again would
// be started for each of its planes.
func (p *plan) start(s, current part, w world, m memory) bool {
	if !p.mayStart(s.number) {
		return false
	}
	if !m.reserve(p.layout.windowMemory(s.count), false) {
		p.thin = true
		return false
	}
	if !m.start(s, p.most(w.speed), func(old part) bool { return p.isBehind(old, current, s) }) {
		return false
	}
	for i := range s.count {
		p.started[s.number+i] = true
	}
	if blocks := p.announce(s, w.speed); !blocks.Empty() {
		m.announce(blocks)
	}
	return true
}

// observe records a read of n bytes. If portions are pushed, the reads of a sequential reader have gaps: it reads the
// first plane of a slab, in which one read may span several portions, and finds the other planes in the page cache,
// except for some pages. Its next read is in the slab that it has reached, or in the first portion of the next one.
func (p *plan) observe(off, n int64) habit {
	var h habit
	i, first := p.layout.at(off), p.layout.slabStart(p.reached)
	next := first + p.layout.perSlab()
	if p.current.has(p.reached) {
		first, next = min(first, p.current.number), max(next, p.current.number+p.current.count)
	}
	if p.pushing && p.state == sequential && i >= first && i <= next {
		h = p.skipTo(off + n)
	} else {
		h = p.access.observe(off, n)
	}
	switch {
	case p.state == random:
	case h.jumped:
		p.begin(i)
	case i > p.reached:
		p.reached = i
		maps.DeleteFunc(p.started, func(i int, _ bool) bool { return i < p.layout.slabStart(p.reached) })
	}
	return h
}

// begin records that a sequential reader reads on from part i: it may need all portions from there on.
func (p *plan) begin(i int) { p.origin, p.started, p.reached = p.aligned(i), map[int]bool{}, i }

// aligned returns the number of the first part of the cells, or of the thick portion, of part i.
func (p *plan) aligned(i int) int {
	if p.layout.perSlab() > 1 {
		return i
	}
	return i - i%p.layout.thick()
}

// window is the memory for two portions of a sequential reader.
type window struct {
	layout  layout
	thin    bool
	memory  int64
	pushing bool
	reclaim bool // idle readers lose their portions to make room
}

// windows returns the windows that the reader may have, the best one first. Portions are whole slabs if there is enough
// memory, or else parts of slabs if the sink accepts pushes.
func (p *plan) windows(w world) (windows []window) {
	l := newLayout(p.layout.array, p.layout.limits)
	if l.array.Box().Size()[2] == 1 {
		return nil // no block is needed twice
	}
	if n := p.thickness(w.speed, l); n > 1 {
		windows = append(windows, window{l, false, l.windowMemory(n), w.all && w.accepts, true})
	}
	windows = append(windows, window{l, len(windows) > 0, l.windowMemory(1), w.all && w.accepts, true})
	for l.rows /= 2; l.rows > 0 && w.accepts; l.rows /= 2 {
		if l.bytes() <= l.maxPartialPortion || l.rows == 1 {
			windows = append(windows, window{l, true, l.windowMemory(1), true, false})
		}
	}
	return windows
}

// thickness returns the number of slabs of a portion: those of a cell if requests to the source should be long, unless
// a disk cache answers for it; and more if slabs are thin.
func (p *plan) thickness(speed vfs.Speed, l layout) int {
	long := speed.Long > 0 && !speed.Near && l.blocks.Min[2]%l.cell[2] == 0
	switch n := l.thick(); {
	case p.thin || l.perSlab() > 1:
		return 1
	case long || n > l.cell[2]:
		return n
	}
	return 1
}

// enter records that the reader has got a window, and reads from off.
func (p *plan) enter(w window, off int64) {
	p.state, p.layout, p.thin, p.pushing, p.announced = sequential, w.layout, w.thin, w.pushing, 0
	p.current = part{}
	p.begin(p.layout.at(off))
}

// leave records that the reader has lost its window.
func (p *plan) leave() {
	p.state, p.thin, p.pushing, p.layout = random, false, false, newLayout(p.layout.array, p.layout.limits)
}

// place returns the place of part i in the order of reading, from origin on. A reader that has begun in the middle of a
// plane needs the first parts of this slab for the next plane. What lies before the slab has places below 0.
func (p *plan) place(i int) int {
	per, first := p.layout.perSlab(), p.layout.slabStart(p.origin)
	if i < first || i >= first+per {
		return i - first
	}
	return (i - p.origin + per) % per
}

// numberAt returns the number of the part at a place.
func (p *plan) numberAt(place int) int {
	per, first := p.layout.perSlab(), p.layout.slabStart(p.origin)
	if place < 0 || place >= per {
		return first + place
	}
	return first + (p.origin-first+place)%per
}

// portionAt returns the portion with the byte at off that may be started.
func (p *plan) portionAt(off int64, speed vfs.Speed) part {
	i := p.layout.at(off)
	if first := p.aligned(i); p.thickness(speed, p.layout) > 1 && p.mayStart(first) {
		i = first
	}
	return p.portion(i, speed)
}

// portion returns the portion that starts with part i.
func (p *plan) portion(i int, speed vfs.Speed) part {
	n := p.thickness(speed, p.layout)
	if i != p.aligned(i) {
		n = 1
	}
	return p.layout.part(i, n)
}

// mayStart reports whether a portion that starts with part i may be started: it was not, and the reader is not past it.
func (p *plan) mayStart(i int) bool {
	return p.state == sequential && i >= p.aligned(p.layout.slabStart(p.reached)) && !p.started[i]
}

// isLate reports whether a reader that reads off first, of a portion that is not in memory, reads less of it than it
// could have. That is for a reader with HintSequential: the cache has the blocks of the planes that were read before.
func (p *plan) isLate(s part, off int64) bool {
	_, z := s.array.RowAt(off)
	return p.hint == HintSequential && z-s.box.Min[2] > max(s.array.Grid().Block[2], int(s.planes()))/4
}

// ahead returns how many portions after s should be in memory when n bytes at off of s are read. There are none until
// an eighth of s is read: reads of the portion before, whose memory is used again, may still be in progress. Of a late
// source there are more, one more with each portion that the reader has come to. An array that is read once is
// requested from it at once.
func (p *plan) ahead(s part, off, n int64, speed vfs.Speed) int {
	plane, rest := s.runAt(off)
	run := s.run(0).Len()
	done, all := (plane+1)*run-rest.Len()+n, run // bytes of the portion that are read from it
	if !p.pushing {
		all *= s.planes()
	}
	if p.hint == HintSequential && !p.alone {
		all *= 3 // several threads read it, and one of them may still read some planes before the others
	}
	switch {
	case done < all/8 || p.undecided:
		return 0
	case !speed.Late || speed.Near:
		return 1
	case p.hint == HintOnce && p.fewBlocks:
		return p.layout.count()
	}
	return 1 + max(p.place(s.number), 0)/s.count
}

// isBehind reports whether a portion in memory may make room for another one of a reader that reads s.
func (p *plan) isBehind(old, s, next part) bool {
	place := p.place(old.number)
	return place < p.place(s.number) || place > p.place(next.number)
}

// most returns the memory that a window may grow to: for a late source, [limits].maxWindow, or a quarter of what can be
// reserved.
func (p *plan) most(speed vfs.Speed) int64 {
	two := p.layout.windowMemory(p.thickness(speed, p.layout))
	switch {
	case !speed.Late || speed.Near:
		return two
	case p.hint == HintOnce && p.fewBlocks:
		return p.layout.memory(p.layout.slabs())
	}
	return max(two, min(p.layout.maxWindow, p.share))
}

// slabsAhead is how many portions after one that is started are announced to the disk at least. One takes a disk about
// as long as two cores need to decode another.
const slabsAhead = 2

// announce returns the blocks that a sequential reader reads with a portion that is started, and after it: what its
// source is told. They are an even number of slabs: in Morton order, four blocks of a slab follow each other in the
// file, but 32 blocks of two slabs. So a disk gets few long requests, and none twice. A source that may answer late has
// many requests in flight instead.
func (p *plan) announce(s part, speed vfs.Speed) (blocks volume.Box) {
	if p.undecided || p.layout.perSlab() > 1 || !speed.AtOnce {
		return volume.Box{}
	}
	end, from := p.layout.announcedEnd(s.number, s.count), s.number
	if p.announced <= end {
		from = max(from, p.announced) // else the reader went back
	}
	if from >= end {
		return volume.Box{}
	}
	p.announced = end
	return p.layout.part(from, end-from).blocks
}

// announcedEnd returns the part after the last one that is announced when a portion of count slabs from part i on is
// started. It is the end of a pair of slabs, or of the array. It is i if a pair is too large.
func (l layout) announcedEnd(i, count int) int {
	if l.bytes() > l.maxAnnounced/2 {
		return i
	}
	end := i + count*(1+slabsAhead)
	end += (l.blocks.Min[2] + end) % 2
	for int64(end-i)*l.bytes() > l.maxAnnounced {
		end -= 2
	}
	return min(end, l.count())
}
