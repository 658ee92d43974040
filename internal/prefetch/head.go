package prefetch

import "github.com/wkwfs/wkwfs/cache"

// head is the blocks of the first read of a plane, in memory while a random reader reads the plane. The kernel reads ahead past
// the end of the plane. It usually gets the first rows of the next plane, which have the same blocks as the head.
type head struct {
	pins       cache.Pins
	memory     int64 // bytes of the budget
	start, end int64 // of the plane, in bytes of the array; a read may start some bytes before
}

// updateHead keeps the blocks of a read if it is the first one of a plane, and releases those of the plane before. pins gets
// the blocks. last reports whether the read is the last one for which the head is kept. It is called with mu held.
func (r *Reader) updateHead(off, n int64, o observation) (pins *cache.Pins, last bool) {
	switch h := r.head; {
	case r.state != random || o.sequential:
		r.dropHead()
	case o.startsPlane && r.hint == NoHint:
		r.dropHead()
		return r.newHead(off, n), false
	case h != nil && (off < h.start || off >= h.end+n):
		r.dropHead()
	case h != nil:
		return nil, off >= h.end
	}
	return nil, false
}

// newHead returns what gets the blocks of a new head, or nil if there is no memory or the next plane has other blocks.
func (r *Reader) newHead(off, n int64) *cache.Pins {
	_, z := r.array.RowAt(off + r.page - 1) // a read starts at a page, and so maybe in the plane before
	side := r.array.Grid().Block
	if z+1 >= r.array.Box().Max[2] || (z+1)%side[2] == 0 {
		return nil
	}
	l := newLayout(r.array, r.limits)
	l.rows = int(n/(r.array.RowBytes()*int64(side[1]))) + 2
	memory := l.portionMemory()
	if memory > r.maxHead || !r.prefetcher.reserve(r, memory, false) {
		return nil
	}
	r.head = &head{memory: memory, start: off, end: off + r.array.PlaneBytes()}
	return &r.head.pins
}

// dropHead releases the head, if there is one. It is called with mu held.
func (r *Reader) dropHead() {
	if r.head != nil {
		r.head.pins.Release()
		r.prefetcher.release(r, r.head.memory)
		r.head = nil
	}
}

// dropUsedHead releases the head after its last read.
func (r *Reader) dropUsedHead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropHead()
}
