package cache

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"
)

// frequent keeps blocks that are missed often: ristretto, made exact in three ways.
//
//   - It stores entries under hashes. Every answer is compared with the whole key, so
//     that two keys with one hash cost a load and never give wrong bytes.
//   - It holds up to 32,768 values that were set and not yet judged, outside its
//     budget: a GiB of blocks. Every offer therefore waits until it has been judged.
//   - A Get beside Close would send on a closed channel. A lock keeps them apart.
type frequent struct {
	mu      sync.RWMutex // written to close
	entries *ristretto.Cache[uint64, *entry]
	closed  bool

	hits    atomic.Uint64
	dropped atomic.Uint64 // blocks that were offered and are gone
}

// usualBlock is the size of the blocks for which ristretto's counters are
// laid out: 32³ voxels of one byte. Smaller blocks find fewer counters for each,
// and the choice between them gets coarser.
const usualBlock = 32 << 10

// newFrequent makes room for capacity bytes, which must be positive.
func newFrequent(capacity int64) *frequent {
	f := new(frequent)
	entries, err := ristretto.NewCache(&ristretto.Config[uint64, *entry]{
		NumCounters: 10 * max(capacity/usualBlock, 100),
		MaxCost:     capacity,
		BufferItems: 64,
		KeyToHash:   func(h uint64) (uint64, uint64) { return h, 0 },
		OnExit:      func(*entry) { f.dropped.Add(1) },
		// Costs are whole: [overhead] covers what ristretto needs for an entry.
		IgnoreInternalCost: true,
	})
	if err != nil {
		panic(fmt.Sprintf("ristretto with room for %d bytes: %v", capacity, err)) // all of its errors are about zero or negative settings
	}
	f.entries = entries
	return f
}

// get returns the entry of k, or nil, and counts that k was wanted.
func (f *frequent) get(h uint64, k key) *entry {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil
	}
	e, ok := f.entries.Get(h)
	if !ok || e.key != k {
		return nil
	}
	f.hits.Add(1)
	return e
}

// offer proposes entries to be kept; when it returns, it is decided. It must not be
// called after close.
func (f *frequent) offer(entries []*entry) {
	for _, e := range entries {
		f.entries.Set(e.hash, e, e.cost())
	}
	f.entries.Wait()
}

// used returns how many bytes are kept.
func (f *frequent) used() int64 { return f.entries.MaxCost() - f.entries.RemainingCost() }

// close forgets everything, keeps nothing from now on and ends ristretto's goroutines.
func (f *frequent) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.entries.Close()
	}
}
