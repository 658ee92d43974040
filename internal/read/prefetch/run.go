package prefetch

import (
	"context"
	"slices"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// ledger is what a Reader has in memory. It is the [memory] of its plan.
type ledger struct {
	reader   *Reader
	portions []*portion // in the order in which they were started
	reserved int64      // bytes of the budget for portions
	used     int64      // of these by portions
	guesses  int        // that are being loaded or pushed. Each has reserved memory of its own
	lastRead time.Time
}

func (l *ledger) reserve(n int64, reclaim bool) bool {
	more := n - l.reserved
	if more > 0 && !l.reader.prefetcher.reserve(l.reader, more, reclaim) {
		return false
	}
	l.reserved = max(l.reserved, n)
	return true
}

func (l *ledger) find(i int) (s part, ok bool) {
	if s := l.portion(i); s != nil {
		return s.part, true
	}
	return part{}, false
}

// portion returns the portion that has part i of the layout, or nil.
func (l *ledger) portion(i int) *portion {
	for _, s := range l.portions {
		if s.has(i) {
			return s
		}
	}
	return nil
}

func (l *ledger) start(p part, most int64, isBehind func(part) bool) bool {
	r, n := l.reader, p.memory()
	for i := 0; i < len(l.portions) && l.used+n > l.reserved; {
		if s := l.portions[i]; s.hold.InUse() || !isBehind(s.part) {
			i++
		} else {
			l.drop(i)
		}
	}
	if l.used+n > max(most, l.reserved) || !l.reserve(l.used+n, false) {
		return false
	}
	s, err := r.prefetcher.load(r.array.Source, p, cache.Never, r.plan.hint == HintSequential)
	if err != nil {
		return false // the cache is closed: reading the blocks returns this error
	}
	var before <-chan struct{}
	if n := len(l.portions); n > 0 {
		before = l.portions[n-1].pushed
	}
	l.portions = append(l.portions, s)
	l.used += n
	if r.plan.pushing {
		r.pusher.pushLater(r.ctx, s, before, r.switchOff)
	}
	return true
}

func (l *ledger) announce(blocks volume.Box) { l.reader.array.Source.Announce(l.reader.ctx, blocks) }

// drop releases portion i of the list.
func (l *ledger) drop(i int) {
	s := l.portions[i]
	l.portions = slices.Delete(l.portions, i, i+1)
	l.used -= s.memory()
	s.hold.Close()
}

func (l *ledger) release() {
	for len(l.portions) > 0 {
		l.drop(len(l.portions) - 1)
	}
	if l.reserved > 0 {
		l.reader.prefetcher.release(l.reader, l.reserved)
		l.reserved = 0
	}
}

// inUse reports whether a portion is being decoded, pushed or read.
func (l *ledger) inUse() bool {
	return slices.ContainsFunc(l.portions, func(s *portion) bool { return s.hold.InUse() })
}

// blockUse is how a read uses blocks that are not in a portion.
type blockUse struct {
	keep    cache.Keep      // what the cache keeps of them
	guessed <-chan struct{} // the read waits until it is closed: what is being pushed is probably read next; may be nil
}

// prepare records a read of n bytes, and starts what the plan wants. It returns the portion that contains the byte at
// off, with a use of its hold, if there is one, and how the read gets blocks without a portion. No read needs what is
// started here: a panic switches it off.
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

// claim is prepare. If the portion cannot start until another one is pushed, it returns a channel that is closed then.
// The next call for this read is not the first one.
func (r *Reader) claim(off, n int64, first bool, how *blockUse) (s *portion, room <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	guard.Pass("prefetch.plan")
	w := world{r.array.Source.Speed(), r.pusher.sink.All, r.pusher.accepts()}
	var at part
	var ok bool
	if first {
		r.ledger.lastRead = time.Now()
		var h habit
		at, ok, h = r.plan.read(off, n, w, &r.ledger)
		how.keep = h.keep
		r.pusher.position.Store(r.plan.end())
		if !ok && r.plan.state == random {
			how.guessed = r.startGuess(h.next, off+n)
		}
	} else {
		r.plan.follow(off, true, w, &r.ledger)
		at, ok = r.plan.prepare(off, n, w, &r.ledger)
	}
	guard.Pass("prefetch.plan")
	switch {
	case ok:
		s = r.ledger.portion(r.plan.layout.at(off))
		s.hold.Acquire()
	case r.plan.pushing && r.plan.mayStart(at.number) && len(r.ledger.portions) > 0:
		room = r.ledger.portions[0].pushed
	}
	return s, room
}

// maxGuesses is the number of guesses of a Reader that are loaded or pushed at a time.
const maxGuesses = 4

// startGuess starts to load the blocks of a guess, and to push it. end is the end of the read that led to it. It
// returns a channel that is closed when the guess is pushed. It does nothing and returns nil if there is no sink, or no
// memory.
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

// switchOff ends everything that is done ahead of the reader, because of a panic there. Then each read gets its blocks
// through the cache.
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
	r.ledger.release()
	r.plan.leave()
}
