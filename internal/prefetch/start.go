package prefetch

import (
	"slices"

	"github.com/wkwfs/wkwfs/cache"
)

// The methods in this file are called with mu held.

// key returns the key of portion i.
func (r *Reader) key(i int) portionKey {
	return portionKey{r.version, r.array.Grid().BlockBytes(), r.layout.validBlocks(i)}
}

// view returns portion i as a part of the array.
func (r *Reader) view(i int, s *portion) portionView {
	return portionView{s, r.array, r.layout.portionBox(i)}
}

// startNext starts the portions of the window after portion i, if there is room. The reader reads n bytes of portion i at off.
// It waits until an eighth of portion i is read: reads of the portion before, whose memory is used again, may still be in
// progress.
func (r *Reader) startNext(i int, off, n int64) {
	current := r.view(i, nil)
	plane, inRun := current.locate(off)
	run := current.runBytes()
	done, all := plane*run+inRun+n, run // bytes of the portion that are read from it
	if !r.pushing {
		all *= current.planes()
	}
	if r.hint == HintSequential && !r.alone.Load() {
		all *= 3 // several threads read it, and one of them may still read some planes before the others
	}
	if done < all/8 || r.undecided.Load() {
		return
	}
	for range len(r.window) - 1 {
		i = r.next(i)
		if i < r.layout.count() && r.outgrown(i) {
			i = r.thicken(i)
		}
		if i >= r.layout.count() {
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

const (
	// maxWindowPortions and maxWindowBytes bound the window of a reader whose source answers late.
	maxWindowPortions = 32
	maxWindowBytes    = 256 << 20
)

// growWindow adds a place to the window if the source answers late and the reader has reached portion i before it is
// decoded. What a disk cache answers does not count: the reader waits for processors then, and more memory does not help.
func (r *Reader) growWindow(i int, s *portion) {
	if i <= r.grownAt || s.hold.Ready() || !r.source.Late() || r.source.Near() || r.thin || len(r.window) >= maxWindowPortions {
		return
	}
	need := r.layout.portionMemory()
	if r.reserved+need > max(maxWindowBytes, r.layout.windowMemory()) || !r.growTo(r.reserved+need) {
		return
	}
	r.grownAt = i
	r.window = slices.Insert(r.window, r.oldest, nil)
}

// next returns the number of the portion that is read after portion i. A reader that became sequential in the middle of a
// plane needs the first portions of the slab for the next plane.
func (r *Reader) next(i int) int {
	if (i+1)%r.layout.portionsPerSlab() == 0 {
		for first := r.layout.slabStart(i); first < i; first++ {
			if !r.started[first] {
				return first
			}
		}
	}
	return i + 1
}

// start starts to decode portion i in the place of the oldest portion, and returns it with a use of its hold. ahead says that no read
// waits for it. It returns nil if the oldest portion is still in use or portion i was started before.
func (r *Reader) start(i int, ahead bool) *portion {
	if !r.mayStart(i) {
		return nil
	}
	if old := r.window[r.oldest]; old != nil {
		if old.hold.InUse() {
			return nil
		}
		r.window[r.oldest] = nil
		r.prefetcher.drop(old)
	}
	keep := cache.Never
	if r.state == preloaded {
		keep = cache.IfSeen
	}
	s, err := newPortion(r.source, r.key(i), keep, ahead && r.hint == HintSequential)
	if err != nil {
		return nil // the cache is closed: reading the blocks returns this error
	}
	s.hold.Acquire() // for the caller
	newest := r.window[(r.oldest+len(r.window)-1)%len(r.window)]
	r.window[r.oldest] = s
	r.oldest = (r.oldest + 1) % len(r.window)
	r.started[i] = true
	r.prefetcher.add(s)
	r.announce(i)
	if r.pushing && r.state == sequential {
		r.push(i, s, newest)
	}
	return s
}

// mayStart reports whether portion i was not started before. A portion that was started and is needed again would be
// started for each of its planes.
func (r *Reader) mayStart(i int) bool {
	return i >= r.layout.slabStart(r.reached) && !r.started[i]
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
	r.pushes.Go(func() {
		defer close(pushed)
		defer s.hold.Release()
		err := s.hold.WaitAll(r.ctx)
		if previous != nil {
			<-previous // even if this portion is not pushed: the next portion waits only for this one
		}
		if err == nil {
			r.pusher.push(r.ctx, view)
		}
	})
}
