package cache

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// frequent keeps blocks that are often requested while the recent list does not have them. It adapts ristretto in four
// ways:
//
//   - Ristretto only keeps entries alive, by a reference to each. Entries are found in the index, by their full keys.
//   - Ristretto queues up to 32,768 new values before it decides about them, outside of its budget: a GiB of blocks.
//     So each offer waits for the decision.
//   - A Get during Close would send on a closed channel. A lock prevents this.
//   - To make room for a large entry, ristretto may evict an entry twice. The second time it passes nil.
type frequent struct {
	capacity  int64        // bytes
	mu        sync.RWMutex // locked for writing by close
	ristretto *ristretto.Cache[uint64, *entry]
	closed    bool
	lent      int64 // bytes of the capacity that it may not use: see Cache.divide

	release func(*entry)  // releases a reference
	dropped atomic.Uint64 // blocks
}

// usualBlock is the size of blocks for which the number of ristretto's counters is chosen, in bytes: 32³ voxels of
// one byte. Smaller blocks share counters, and ristretto chooses less precisely between them.
const usualBlock = 32 << 10

// newFrequent returns a frequent with a capacity in bytes, at least one: ristretto does not accept 0.
func newFrequent(capacity int64) *frequent {
	capacity = max(capacity, 1)
	f := &frequent{capacity: capacity}
	r, err := ristretto.NewCache(&ristretto.Config[uint64, *entry]{
		NumCounters: 10 * max(capacity/usualBlock, 100),
		MaxCost:     capacity,
		BufferItems: 64,
		KeyToHash:   func(h uint64) (uint64, uint64) { return h, 0 },
		OnExit: func(e *entry) { // in a goroutine of ristretto
			if e == nil {
				return
			}
			if err := guard.Do("cache.evict",
				func() error { f.drop(e); guard.Pass("cache.evict"); return nil }); err != nil {
				guard.Report(err)
			}
		},
		// The cost of an entry includes ristretto's own memory: see overhead.
		IgnoreInternalCost: true,
	})
	if err != nil {
		// it only refuses zero or negative settings
		panic(fmt.Sprintf("cache: ristretto with a capacity of %d bytes: %v", capacity, err))
	}
	f.ristretto = r
	return f
}

// drop releases an entry that is not kept any more.
func (f *frequent) drop(e *entry) {
	f.dropped.Add(1)
	f.release(e)
}

// count records a request for a block that was requested before and that the recent list does not have. First requests
// are not counted: random readers make many of them, and ristretto wakes a goroutine for each 64.
func (f *frequent) count(h uint64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !f.closed {
		f.ristretto.Get(h)
	}
}

// offer offers entries to ristretto, with a reference to each. Ristretto has decided when offer returns: it keeps the
// entry, or the reference is released. offer must not be called after close.
func (f *frequent) offer(entries []*entry) {
	for _, e := range entries {
		e.offered.Store(true)
		if !f.ristretto.Set(e.hash, e, e.cost()) {
			f.drop(e)
		}
	}
	if len(entries) > 0 {
		f.ristretto.Wait()
	}
}

// used returns the bytes of the entries that are kept.
func (f *frequent) used() int64 { return f.ristretto.MaxCost() - f.ristretto.RemainingCost() }

// setLent sets the bytes of the capacity that it may not use. If they become more, all entries are dropped: ristretto
// evicts only for new ones.
func (f *frequent) setLent(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || n == f.lent {
		return
	}
	f.ristretto.UpdateMaxCost(max(f.capacity-n, 1))
	if n > f.lent {
		f.ristretto.Clear()
	}
	f.lent = n
}

// close drops all entries and ends the goroutines of ristretto.
func (f *frequent) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.ristretto.Close()
	}
}
