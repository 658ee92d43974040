package cache

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"
)

// frequent keeps blocks that are asked for often when the window does not have them: ristretto, made exact in four
// ways.
//
//   - It has a reference to each entry, and only keeps it alive: entries are found in the index, by their whole
//     keys.
//   - It holds up to 32,768 values that were set and not yet judged, outside its
//     budget: a GiB of blocks. Every offer therefore waits until it has been judged.
//   - A Get beside Close would send on a closed channel. A lock keeps them apart.
//   - It may name an entry twice that has to make room for a larger one, and has none the second time.
type frequent struct {
	mu      sync.RWMutex // written to close
	entries *ristretto.Cache[uint64, *entry]
	closed  bool

	release func(*entry)  // takes back a reference
	dropped atomic.Uint64 // blocks that are gone
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
		OnExit: func(e *entry) {
			if e != nil {
				f.exit(e)
			}
		},
		// Costs are whole: [overhead] covers what ristretto needs for an entry.
		IgnoreInternalCost: true,
	})
	if err != nil {
		panic(fmt.Sprintf("ristretto with room for %d bytes: %v", capacity, err)) // all of its errors are about zero or negative settings
	}
	f.entries = entries
	return f
}

// exit releases an entry that is not kept any more.
func (f *frequent) exit(e *entry) {
	f.dropped.Add(1)
	f.release(e)
}

// count tells ristretto that a block was asked for that the window does not have.
func (f *frequent) count(h uint64) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if !f.closed {
		f.entries.Get(h)
	}
}

// offer proposes entries to be kept, with a reference to each; when it returns, it is decided. It must not be
// called after close.
func (f *frequent) offer(entries []*entry) {
	for _, e := range entries {
		e.main.Store(true)
		if !f.entries.Set(e.hash, e, e.cost()) {
			f.exit(e)
		}
	}
	if len(entries) > 0 {
		f.entries.Wait()
	}
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
