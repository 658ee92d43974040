package prefetch

import (
	"slices"
	"time"

	"github.com/wkwfs/wkwfs/cache"
)

func (r *Reader) key(i int) slabKey {
	return slabKey{r.version, r.array.Grid().BlockBytes(), r.layout.validBlocks(i)}
}

// part returns slab i as it lies in the array.
func (r *Reader) part(i int, s *slab) part { return part{s, r.array, r.layout.slabBox(i)} }

// beginNext begins the slabs after number i, of which n bytes from off on are read, as far as there is room.
// Reads of the slab before may still be under way when the first of this one arrives: its
// memory is taken a little later.
func (r *Reader) beginNext(i int, off, n int64) {
	current := r.part(i, nil)
	z, in := current.place(off)
	run := current.run()
	read, all := z*run+in+n, run // of what is read from the slab
	if !r.pushes {
		all *= current.planes()
	}
	if r.habit == Ordered {
		all *= 3 // its readers are some threads, and the last one may be some planes late
	}
	if read < all/8 {
		return
	}
	for range len(r.own) - 1 {
		if i = r.next(i); i >= r.layout.count() {
			return
		}
		s := r.shared.find(r.key(i))
		if s == nil {
			s = r.begin(i)
		}
		if s == nil {
			return
		}
		s.hold.Release()
	}
}

const (
	// maxSlabs and maxWindow bound what is decoded ahead of a reader whose source answers late.
	maxSlabs  = 32
	maxWindow = 256 << 20 // bytes
)

// widen makes room for one slab more, if the reader has reached slab i before it was decoded because the source answers late. So
// the more is decoded ahead, the later the answers come.
func (r *Reader) widen(i int, s *slab) {
	if i <= r.widened || s.hold.Ready() || !r.source.Late() || len(r.own) >= maxSlabs {
		return
	}
	need := r.layout.memory()
	if r.reserved+need > max(maxWindow, r.layout.pairBytes()) || !r.shared.reserve(r, need, false) {
		return
	}
	r.widened = i
	r.reserved += need
	r.own = slices.Insert(r.own, r.turn, nil)
}

// next returns the number of the slab that is read after slab i. A reader that was found to be sequential in the middle of a plane
// needs the first slabs of the layer for the next plane.
func (r *Reader) next(i int) int {
	if (i+1)%r.layout.parts() == 0 {
		for first := r.layout.layer(i); first < i; first++ {
			if !r.begun[first] {
				return first
			}
		}
	}
	return i + 1
}

// begin has slab i decoded in the place of the oldest one, and returns it with a use of its hold; nil if that is still
// in use, or slab i was begun before.
func (r *Reader) begin(i int) *slab {
	if !r.mayBegin(i) {
		return nil
	}
	if old := r.own[r.turn]; old != nil {
		if old.hold.Busy() {
			return nil
		}
		r.own[r.turn] = nil
		r.shared.drop(old)
	}
	keep := cache.Never
	if r.state == whole {
		keep = cache.IfSeen
	}
	s, err := newSlab(r.source, r.key(i), keep)
	if err != nil {
		return nil // the cache is closed: blocks say so
	}
	s.hold.Acquire() // for the caller
	last := r.own[(r.turn+len(r.own)-1)%len(r.own)]
	r.own[r.turn] = s
	r.turn = (r.turn + 1) % len(r.own)
	r.begun[i] = true
	r.shared.add(s)
	if r.pushes && r.state == sequential {
		r.push(i, s, last)
	}
	return s
}

// mayBegin reports whether slab i was not begun before: one that is wanted again would be
// wanted for each of its planes.
func (r *Reader) mayBegin(i int) bool { return i >= r.layout.layer(r.at) && !r.begun[i] }

// push has slab i pushed, as soon as it is decoded and the last one, if there is one, was pushed.
func (r *Reader) push(i int, s, last *slab) {
	done, decoded := make(chan struct{}), r.part(i, s)
	s.pushed = done
	s.hold.Acquire()
	var before <-chan struct{}
	if last != nil {
		before = last.pushed
	}
	r.group.Go(func() {
		defer close(done)
		defer s.hold.Release()
		err := s.hold.WaitAll(r.ctx)
		if before != nil {
			<-before // also if there is nothing to push: the next slab waits for this one only
		}
		if err == nil {
			r.pusher.push(r.ctx, decoded)
		}
	})
}

// reserveSlabs gets the memory for two slabs: of whole layers if there is enough, else, if
// the sink takes what is left over, of parts of them.
func (r *Reader) reserveSlabs() bool {
	if r.array.Box().Size()[2] == 1 {
		return false // no block is needed twice
	}
	l := newLayout(r.array)
	if r.reserve(l, true) {
		r.pushes = r.pusher.sink.All && r.pusher.welcome()
		return true
	}
	for l.rows /= 2; l.rows > 0 && r.pusher.welcome(); l.rows /= 2 {
		if (l.slabBytes() <= maxSlab || l.rows == 1) && r.reserve(l, false) {
			r.pushes = true
			return true
		}
	}
	return false
}

// reserveWhole gets the memory for the whole array, if it is small.
func (r *Reader) reserveWhole() bool {
	l := newLayout(r.array).whole()
	return l.slabBytes() <= maxWhole && r.reserve(l, false)
}

func (r *Reader) reserve(l layout, reclaim bool) bool {
	need := l.pairBytes()
	if !r.shared.reserve(r, need, reclaim) {
		return false
	}
	r.layout, r.reserved = l, need
	r.own, r.turn, r.widened = make([]*slab, 2), 0, 0
	return true
}

// yield drops the slabs if the reader is idle, for another reader. It does not wait.
func (r *Reader) yield(now time.Time) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	if r.reserved == 0 || now.Sub(r.used) <= idleTime || r.busy() {
		return false
	}
	r.dropAll()
	return true
}

// busy reports whether a slab is being decoded, pushed or read.
func (r *Reader) busy() bool {
	for _, s := range r.own {
		if s != nil && s.hold.Busy() {
			return true
		}
	}
	return false
}

// dropAll gives all memory back.
func (r *Reader) dropAll() {
	for _, s := range r.own {
		if s != nil {
			r.shared.drop(s)
		}
	}
	r.own, r.turn = nil, 0
	if r.reserved > 0 {
		r.shared.release(r, r.reserved)
	}
	r.state, r.reserved, r.pushes, r.layout = random, 0, false, newLayout(r.array)
}
