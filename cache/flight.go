package cache

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// flights counts the memory of blocks that are being loaded: their voxels, and what decoding them takes besides. It has
// maxInFlight bytes of its own. For blocks that are larger than a round, it also borrows from the budget: up to the
// half that holds cannot reserve. So these evict blocks that are kept, and no block of usual size does.
type flights struct {
	own, borrowed *semaphore.Weighted
	limit, lends  int64             // bytes of each
	large         int64             // bytes of a flight that may borrow
	lend          func(delta int64) // is called with changes of what is borrowed
}

func newFlights(l limits, budget int64, lend func(delta int64)) *flights {
	lends := budget / 2
	return &flights{semaphore.NewWeighted(l.inFlight), semaphore.NewWeighted(lends), l.inFlight, lends, int64(l.round),
		lend}
}

// most returns the most bytes that a flight can have.
func (f *flights) most() int64 { return f.limit + f.lends }

// start takes n bytes, or what there is if n is more, and waits until they are free.
func (f *flights) start(ctx context.Context, n int64) (*flight, error) {
	n = min(n, f.most())
	switch {
	// Acquire asks the context for its channel, which costs some contexts much
	case n <= f.limit && f.own.TryAcquire(n):
		return &flight{of: f, own: n}, nil
	case n > f.large && f.borrowed.TryAcquire(n):
		f.lend(n)
		return &flight{of: f, borrowed: n}, nil
	}
	// A flight that borrows waits for its own bytes first. One that has all of those waits for no flight that waits for
	// them.
	s := &flight{of: f, own: min(n, f.limit)}
	if err := f.own.Acquire(ctx, s.own); err != nil {
		return nil, err
	}
	if more := n - s.own; more > 0 {
		if err := f.borrowed.Acquire(ctx, more); err != nil {
			f.own.Release(s.own)
			return nil, err
		}
		f.lend(more)
		s.borrowed = more
	}
	return s, nil
}

// flight is the memory of some blocks that are being loaded.
type flight struct {
	of *flights

	mu            sync.Mutex
	own, borrowed int64
}

// release gives back up to n bytes, those that were borrowed first.
func (f *flight) release(n int64) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if borrowed := min(n, f.borrowed); borrowed > 0 {
		f.borrowed -= borrowed
		n -= borrowed
		f.of.lend(-borrowed)
		f.of.borrowed.Release(borrowed)
	}
	if own := min(n, f.own); own > 0 {
		f.own -= own
		f.of.own.Release(own)
	}
}
