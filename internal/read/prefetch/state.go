package prefetch

import (
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// state is how a Reader is read and what its portions are for. The package comment draws the transitions.
type state int

const (
	random     state = iota // no portions; blocks are read through the cache
	sequential              // the window moves along with the reader
	paused                  // the window of a sequential reader that reads elsewhere for now
)

// blockUse is how a read uses blocks that are not in a portion.
type blockUse struct {
	keep    cache.Keep      // what the cache keeps of them
	guessed <-chan struct{} // the read waits until it is closed: what is being pushed is probably read next; may be nil
}

// recordRead records a read of n bytes. It reports whether the read belongs to a sequential reader, and returns how
// blocks are used without a portion, and what a reader of patches probably reads next. It is called with mu held, as are all
// other methods in this file.
func (r *Reader) recordRead(off, n int64) (inSequence bool, how blockUse, next guess) {
	r.lastRead = time.Now()
	o, strided := observation{sequential: true, needsAgain: true}, false
	switch {
	case r.hint == HintSequential:
	case r.pushing && r.state == sequential && r.window.inReachedSlab(off):
		r.detector.skipTo(max(r.detector.wide.end, off+n))
	default:
		o = r.detector.observe(off, n)
		if !o.isReadahead {
			strided, next = r.patches.observe(off, n)
		}
	}
	r.advance(off, o.jumped)
	r.pusher.position.Store(r.detector.wide.end)
	how.keep = cache.IfSeen
	switch {
	case o.needsAgain:
		how.keep = cache.Always
	case o.isReadahead:
		how.keep = cache.Never
	case strided:
		how.keep = cache.ShortTerm
	}
	return o.sequential, how, next
}

// advance records that the reader has reached off.
func (r *Reader) advance(off int64, jumped bool) {
	if r.state != random {
		r.window.advance(r.window.layout.portionAt(off), jumped)
	}
}

// claimPortion changes the state after a read, and returns the portion that contains the byte at off, with a use of its
// hold, if there is one. It starts the portion, and the next ones, if it is time to.
func (r *Reader) claimPortion(off, n int64, inSequence bool) (claimed portionView) {
	r.changeState(off, inSequence)
	if r.pushing && r.pusher.refused.Load() {
		if r.pushing = false; r.window.layout.portionsPerSlab() > 1 {
			r.releaseAll() // each portion would be decoded for one plane
		}
	}
	i := r.window.layout.portionAt(off)
	s := r.prefetcher.acquire(r.key(i))
	if s == nil && r.state == sequential && !r.pastFirstQuarter(i, off) {
		s = r.start(i, false)
	}
	if s == nil {
		return r.view(i, s)
	}
	defer func() {
		if claimed.portion == nil { // after a panic
			s.hold.Release()
		}
	}()
	guard.Pass("prefetch.plan")
	view := r.view(i, s) // startNext may change the layout
	if r.state == sequential {
		r.growWindow(i, s)
		r.startNext(i, off, n)
	}
	return view
}

// changeState changes the state after a read. inSequence reports whether the read belongs to a sequential reader.
func (r *Reader) changeState(off int64, inSequence bool) {
	switch {
	case r.state == random && inSequence && r.reserveWindow():
		r.state = sequential
		r.window.enter(r.window.layout.portionAt(off))
	case r.state == paused && inSequence:
		r.state = sequential
	case r.state == sequential && !inSequence:
		r.state = paused
	}
}

// pastFirstQuarter reports whether a reader with HintSequential has passed the first quarter of portion i. Decoding the
// portion does not pay then, because the cache has the blocks of the planes that were read before.
func (r *Reader) pastFirstQuarter(i int, off int64) bool {
	box := r.window.layout.portionBlocks(i)
	_, z := r.array.RowAt(off)
	side := r.array.Grid().Block[2]
	return r.hint == HintSequential && z-max(box.Min[2]*side, r.array.Box().Min[2]) > side/4
}
