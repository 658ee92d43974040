package prefetch

import (
	"maps"
	"time"

	"github.com/wkwfs/wkwfs/cache"
)

// state is what a Reader's slabs are for. The package comment draws how one follows another.
type state int

const (
	random     state = iota // there are none: blocks are read as they are asked for
	sequential              // the layer, or part of one, that is being read, and the next ones
	resting                 // left over from sequential reads, while the reader reads elsewhere
	whole                   // the whole array
)

// record records a read in the detector, and claims its slab. It is called with mu held, like all that follows.
func (r *Reader) record(off, n int64) (part, cache.Keep) {
	r.used = time.Now()
	o := observation{sequential: true, returns: true}
	switch {
	case r.habit == Ordered:
	case r.pushes && r.state == sequential && r.within(off):
		r.detector.move(max(r.detector.far.end, off+n))
	default:
		o = r.detector.observe(off, n)
	}
	r.arrive(off, o.jumped)
	r.pusher.reader.Store(r.detector.far.end)
	keep := cache.IfSeen
	switch {
	case o.returns:
		keep = cache.Always
	case o.overrun:
		keep = cache.Never
	case o.strided:
		keep = cache.Briefly
	}
	return r.claim(off, n, o.sequential), keep
}

// within reports whether a reader at off has not left its way. Where parts of layers are pushed, it goes through the first
// plane of a layer, the last slabs of which one read may span, finds the others in the page cache, but for a page here
// and there, and is next seen at the start of the layer that follows.
func (r *Reader) within(off int64) bool {
	i := r.layout.index(off)
	return i >= r.layout.layer(r.at) && i <= r.layout.layer(r.at)+r.layout.parts()
}

// arrive moves the reader to off.
func (r *Reader) arrive(off int64, jumped bool) {
	if r.state == random {
		return
	}
	i := r.layout.index(off)
	if jumped {
		r.begun = map[int]bool{}
	} else if i <= r.at {
		return
	}
	r.at = i
	maps.DeleteFunc(r.begun, func(i int, _ bool) bool { return i < r.layout.layer(r.at) })
}

// claim returns the slab that has the byte at off, with a use of its hold, if there is one, and begins the next one in good
// time.
func (r *Reader) claim(off, n int64, goesOn bool) part {
	r.follow(off, goesOn)
	if r.pushes && r.pusher.refused.Load() {
		if r.pushes = false; r.layout.parts() > 1 {
			r.dropAll() // each slab would be decoded for one plane
		}
	}
	i := r.layout.index(off)
	found := r.shared.find(r.key(i))
	if found == nil && (r.state == whole || r.state == sequential && !r.late(i, off)) {
		found = r.begin(i)
	}
	if found != nil && r.state == sequential {
		r.widen(i, found)
		r.beginNext(i, off, n)
	}
	return r.part(i, found)
}

// follow changes the state, for a reader that goes on or does not.
func (r *Reader) follow(off int64, goesOn bool) {
	switch {
	case r.state == random && r.habit == Once && r.reserveWhole():
		r.enter(whole, off)
	case r.state == random && goesOn && r.reserveSlabs():
		r.enter(sequential, off)
	case r.state == resting && goesOn:
		r.state = sequential
	case r.state == sequential && !goesOn:
		r.state = resting
	}
}

// enter begins a state in which slabs are owned.
func (r *Reader) enter(s state, off int64) {
	r.state, r.begun, r.at = s, map[int]bool{}, r.layout.index(off)
}

const (
	// maxSlab bounds parts of layers, in bytes: a reader waits for the first one.
	maxSlab = 64 << 20
	// maxWhole bounds arrays that are decoded at once, in bytes of blocks.
	maxWhole = 8 << 20
)

// late reports whether an ordered reader is so far in slab i that decoding it is not worth while: the cache has the blocks of the
// planes that were read before.
func (r *Reader) late(i int, off int64) bool {
	box := r.layout.slabBlocks(i)
	_, z := r.array.RowAt(off)
	side := r.array.Grid().Block[2]
	return r.habit == Ordered && z-max(box.Min[2]*side, r.array.Box().Min[2]) > side/4
}
