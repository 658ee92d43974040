package prefetch

import (
	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// The methods in this file are called with mu held.

// key returns the key of portion i.
func (r *Reader) key(i int) portionKey {
	return portionKey{r.version, r.array.Grid().BlockBytes(), r.window.layout.validBlocks(i)}
}

// view returns portion i as a part of the array.
func (r *Reader) view(i int, s *portion) portionView {
	return portionView{s, r.array, r.window.layout.portionBox(i)}
}

// startNext starts the portions of the window after portion i, if there is room. The reader reads n bytes of portion i at off.
// It waits until an eighth of portion i is read: reads of the portion before, whose memory is used again, may still be in
// progress.
func (r *Reader) startNext(i int, off, n int64) {
	current := r.view(i, nil)
	plane, rest := current.runAt(off)
	run := current.run(0).Len()
	done, all := (plane+1)*run-rest.Len()+n, run // bytes of the portion that are read from it
	if !r.pushing {
		all *= current.planes()
	}
	if r.hint == HintSequential && !r.alone.Load() {
		all *= 3 // several threads read it, and one of them may still read some planes before the others
	}
	if done < all/8 || r.undecided.Load() {
		return
	}
	for range len(r.window.portions) - 1 {
		i = r.window.next(i)
		if i < r.window.layout.count() && r.outgrown(i) {
			i = r.thicken(i)
		}
		if i >= r.window.layout.count() { // of the new layout
			return
		}
		s := r.prefetcher.acquire(r.key(i))
		if s == nil {
			s = r.start(i, true)
		}
		if s == nil {
			return
		}
		s.hold.Release()
	}
}

// growWindow adds a place to the window if the source answers late and the reader has reached portion i before it is
// decoded. What a disk cache answers does not count: the reader waits for processors then, and more memory does not help.
func (r *Reader) growWindow(i int, s *portion) {
	w := &r.window
	if i <= w.grownAt || s.hold.Ready() || !r.source.Speed().Late || r.source.Speed().Near || w.thin || len(w.portions) >= r.maxWindowPortions {
		return
	}
	need := w.reserved + w.layout.portionMemory()
	if need > max(r.maxWindowBytes, w.layout.windowMemory()) || !r.growTo(need) {
		return
	}
	w.grownAt = i
	w.grow()
}

// start starts to decode portion i in the place of the oldest portion, and returns it with a use of its hold. ahead says that no read
// waits for it. It returns nil if the oldest portion is still in use or portion i was started before.
func (r *Reader) start(i int, ahead bool) *portion {
	w := &r.window
	if !w.mayStart(i) {
		return nil
	}
	if old := w.oldestPortion(); old != nil {
		if old.hold.InUse() {
			return nil
		}
		w.portions[w.oldest] = nil
		r.prefetcher.drop(old)
	}
	s, err := r.newPortion(r.source, r.key(i), cache.Never, ahead && r.hint == HintSequential)
	if err != nil {
		return nil // the cache is closed: reading the blocks returns this error
	}
	before := w.newestPortion()
	w.put(i, s)
	r.prefetcher.add(s)
	r.announce(i)
	if r.pushing && r.state == sequential {
		r.push(i, s, before)
	}
	s.hold.Acquire() // for the caller
	return s
}

// push pushes portion i in a new goroutine, after it is decoded and the portion before it, if any, is pushed.
func (r *Reader) push(i int, s, before *portion) {
	pushed, view := make(chan struct{}), r.view(i, s)
	s.pushed = pushed
	s.hold.Acquire()
	var previous <-chan struct{}
	if before != nil {
		previous = before.pushed
	}
	r.pushes.Go(guard.FuncElse("prefetch.push", func() {
		defer close(pushed)
		defer s.hold.Release()
		err := s.hold.WaitAll(r.ctx)
		if previous != nil {
			<-previous // even if this portion is not pushed: the next portion waits only for this one
		}
		if err == nil {
			r.pusher.push(r.ctx, view)
		}
	}, r.switchOff))
}
