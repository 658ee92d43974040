package prefetch

import (
	"context"
	"slices"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// ledger is what a Reader has in memory.
type ledger struct {
	portions []*portion // in the order in which they were started
	reserved int64      // bytes of the budget for portions
	used     int64      // of these by portions
	guesses  int        // that are being loaded or pushed. Each has reserved memory of its own
	lastRead time.Time
}

// find returns the portion that has part i of the layout, or nil.
func (l *ledger) find(i int) *portion {
	for _, s := range l.portions {
		if s.has(i) {
			return s
		}
	}
	return nil
}

// inUse reports whether a portion is being decoded, pushed or read.
func (l *ledger) inUse() bool {
	return slices.ContainsFunc(l.portions, func(s *portion) bool { return s.hold.InUse() })
}

// makeRoom drops portions until there are n bytes more, as far as they are behind the reader and not in use. It returns how many bytes
// the portions and these n bytes take.
func (l *ledger) makeRoom(n int64, isBehind func(part) bool) int64 {
	for i := 0; i < len(l.portions) && l.used+n > l.reserved; {
		if s := l.portions[i]; s.hold.InUse() || !isBehind(s.part) {
			i++
		} else {
			l.drop(i)
		}
	}
	return l.used + n
}

// drop releases portion i of the list.
func (l *ledger) drop(i int) {
	s := l.portions[i]
	l.portions = slices.Delete(l.portions, i, i+1)
	l.used -= s.memory()
	s.hold.Close()
}

// blockUse is how a read uses blocks that are not in a portion.
type blockUse struct {
	keep    cache.Keep      // what the cache keeps of them
	guessed <-chan struct{} // the read waits until it is closed: what is being pushed is probably read next; may be nil
}

// prepare records a read of n bytes, and starts what the plan wants. It returns the portion that contains the byte at off, with a use of its
// hold, if there is one, and how the read gets blocks without a portion. No read needs what is started here: a panic switches it off.
func (r *Reader) prepare(ctx context.Context, off, n int64) (s *portion, how blockUse) {
	how.keep = cache.IfSeen
	if r.off.Load() {
		return nil, how
	}
	err := guard.Do("prefetch.plan", func() error {
		var room <-chan struct{}
		if s, room = r.claim(off, n, true, &how); room != nil && waitPushed(ctx, room, maxPushWait) {
			s, _ = r.claim(off, n, false, &how)
		}
		return nil
	})
	if err != nil {
		r.switchOff(err)
	}
	return s, how
}

// claim is prepare. If the portion cannot start until another one is pushed, it returns a channel that is closed then. The next call for this
// read is not the first one.
func (r *Reader) claim(off, n int64, first bool, how *blockUse) (claimed *portion, room <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	guard.Pass("prefetch.plan")
	h := habit{sequential: true}
	if first {
		h = r.plan.observe(off, n)
		how.keep, r.ledger.lastRead = h.keep, time.Now()
		r.pusher.position.Store(r.plan.end())
	}
	speed := r.array.Source.Speed()
	r.follow(off, h.sequential, speed)
	s := r.ledger.find(r.plan.layout.at(off))
	if s == nil {
		if wanted := r.plan.portionAt(off, speed); r.plan.mayStart(wanted) && !r.plan.isLate(wanted, off) {
			if s = r.start(wanted, wanted, speed); s == nil && r.plan.pushing && len(r.ledger.portions) > 0 {
				room = r.ledger.portions[0].pushed
			}
		}
	}
	if s == nil {
		if first && r.plan.state == random {
			how.guessed = r.startGuess(h.next, off+n)
		}
		return nil, room
	}
	s.hold.Acquire()
	defer func() {
		if claimed == nil { // after a panic
			s.hold.Release()
		}
	}()
	guard.Pass("prefetch.plan")
	if r.plan.state == sequential {
		r.startAhead(s, off, n, speed)
	}
	return s, nil
}

// follow changes the state after a read, and gets a window for a sequential reader, or gives it back.
func (r *Reader) follow(off int64, sequentially bool, speed vfs.Speed) {
	switch {
	case r.plan.state == random && sequentially:
		accepts := r.pusher.accepts()
		for _, w := range r.plan.windows(speed, r.pusher.sink.All, accepts) {
			if r.prefetcher.reserve(r, w.memory, w.reclaim) {
				r.plan.enter(w, off)
				break
			}
		}
	case r.plan.state == paused && sequentially:
		r.plan.state = sequential
	case r.plan.state == sequential && !sequentially:
		r.plan.state = paused
	}
	if r.plan.pushing && r.pusher.refused.Load() {
		if r.plan.pushing = false; r.plan.layout.perSlab() > 1 {
			r.releaseAll() // each portion would be decoded for one plane
		}
	}
}

// startAhead starts the portions that are read after s, of which n bytes at off are read.
func (r *Reader) startAhead(s *portion, off, n int64, speed vfs.Speed) {
	last := s.part
	for range r.plan.ahead(last, off, n, speed) {
		next, ok := r.plan.after(last, speed)
		if !ok {
			return
		}
		t := r.ledger.find(next.number)
		if t == nil && r.plan.mayStart(next) {
			t = r.start(next, s.part, speed)
		}
		if t == nil {
			return
		}
		last = t.part
	}
}

// start starts to decode a portion, of a reader that reads current. It returns nil if there is no room: the reader still needs the
// other portions, and the window may not grow.
func (r *Reader) start(next, current part, speed vfs.Speed) *portion {
	if !r.prefetcher.grow(r, r.plan.layout.windowMemory(next.count)) {
		r.plan.thin = true
		return nil
	}
	need := r.ledger.makeRoom(next.memory(), func(s part) bool { return r.plan.isBehind(s, current, next) })
	if need > r.ledger.reserved && (need > r.plan.most(speed, r.prefetcher.cache.Reservable()) || !r.prefetcher.grow(r, need)) {
		return nil
	}
	ahead := next.number != current.number && r.plan.hint == HintSequential
	s, err := r.prefetcher.load(r.array.Source, next, cache.Never, ahead)
	if err != nil {
		return nil // the cache is closed: reading the blocks returns this error
	}
	var before <-chan struct{}
	if n := len(r.ledger.portions); n > 0 {
		before = r.ledger.portions[n-1].pushed
	}
	r.ledger.portions = append(r.ledger.portions, s)
	r.ledger.used += next.memory()
	r.plan.started(next)
	r.array.Source.Announce(r.ctx, r.plan.announce(next, speed))
	if r.plan.pushing {
		r.pusher.pushLater(r.ctx, s, before, r.switchOff)
	}
	return s
}

// maxGuesses is the number of guesses of a Reader that are loaded or pushed at a time.
const maxGuesses = 4

// startGuess starts to load the blocks of a guess, and to push it. end is the end of the read that led to it. It returns a
// channel that is closed when the guess is pushed. It does nothing and returns nil if there is no sink, or no memory.
func (r *Reader) startGuess(g guess, end int64) <-chan struct{} {
	if g.run.Empty() || !r.pusher.sink.All || !r.pusher.accepts() || r.ledger.guesses >= maxGuesses {
		return nil
	}
	to := newTarget(r.array.Head, r.pusher.sink)
	of, rest, ok := r.plan.guessed(g, end, to)
	if !ok {
		return nil
	}
	memory := of.memory() + int64(pushers())*to.piece
	if !r.prefetcher.cache.Reserve(memory) {
		return nil
	}
	var s *portion
	defer func() {
		if s == nil { // the cache is closed, or after a panic
			r.prefetcher.cache.Unreserve(memory)
		}
	}()
	s, err := r.prefetcher.load(r.array.Source, of, cache.ShortTerm, false)
	if err != nil {
		return nil
	}
	r.ledger.guesses++
	pushed := make(chan struct{})
	r.pusher.running.Go(guard.FuncElse("prefetch.guess", func() {
		defer func() {
			s.hold.Close()
			r.prefetcher.cache.Unreserve(memory)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ledger.guesses--
		}()
		defer close(pushed)
		guard.Pass("prefetch.guess")
		r.pusher.pushPieces(r.ctx, s, to.guessed(g, rest, r.array.PlaneBytes()), -1)
	}, r.switchOff))
	return pushed
}

// switchOff ends everything that is done ahead of the reader, because of a panic there. Then each read gets its blocks through the cache.
func (r *Reader) switchOff(err error) {
	guard.Report(err, "path", r.array.Name)
	r.pusher.refused.Store(true)
	if r.off.Swap(true) {
		return
	}
	guard.Report(guard.Do("prefetch.off", func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		guard.Pass("prefetch.off")
		r.releaseAll()
		return nil
	}), "path", r.array.Name)
}

// releaseIfIdle releases all portions and their memory if the reader is idle. It does not wait.
func (r *Reader) releaseIfIdle(now time.Time) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	l := &r.ledger
	if l.reserved == 0 || now.Sub(l.lastRead) <= idleTime || l.inUse() {
		return false
	}
	r.releaseAll()
	return true
}

// releaseAll releases all portions and their memory. The state is random afterwards.
func (r *Reader) releaseAll() {
	for len(r.ledger.portions) > 0 {
		r.ledger.drop(len(r.ledger.portions) - 1)
	}
	if r.ledger.reserved > 0 {
		r.prefetcher.release(r)
	}
	r.plan.leave()
}
