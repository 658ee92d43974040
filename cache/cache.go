package cache

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// ErrClosed is the error of readers that need a block loaded after [Cache.Close].
var ErrClosed = errors.New("the block cache is closed")

// absent is the version of blocks that were never written.
var absent vfs.Version

// Cache is a store of decoded blocks. It has to be closed.
type Cache struct {
	arena    *arena
	index    index
	window   window
	brief    window // of blocks that are kept briefly; its bytes are lent by the other one
	frequent *frequent
	seen     seen
	places   *semaphore.Weighted // of inFlight bytes
	late     *semaphore.Weighted // of lateLoads loads
	hash     func(volume.Key) uint64

	mu      sync.RWMutex // for closed
	closed  bool
	running sync.WaitGroup // loads, and requests that may begin one; none is added after Close

	hits, shared, loads, failures, bytes atomic.Uint64
}

// inFlight bounds the bytes of blocks that are loaded for readers, until the readers have copied them or the
// budget covers them. A block that is larger is loaded alone.
const inFlight = 64 << 20

// cores is how many goroutines decode for one reader. A server raises GOMAXPROCS above the number of processors, because
// some of its threads wait in the kernel; this is the number before that, with the quota of a container taken into account.
var cores = runtime.GOMAXPROCS(0)

// New returns an empty cache for budget bytes of decoded blocks. With a budget
// of 0, or one that is smaller than a block, nothing is kept, and still one load
// serves all readers that wait for it.
func New(budget int64) *Cache {
	c := &Cache{
		arena:    newArena(max(budget, 0) + inFlight),
		frequent: newFrequent(max(budget/5, 1)), // ristretto refuses to have no room at all
		seen:     newSeen(budget),
		places:   semaphore.NewWeighted(inFlight),
		late:     semaphore.NewWeighted(lateLoads),
	}
	c.hash = hash
	c.frequent.release = c.release
	c.window.capacity = max(budget-budget/5, 0)
	c.window.leave = c.evict
	c.brief.capacity = min(maxBrief, max(budget, 0)/8)
	c.brief.leave = func(entries []*entry) {
		for _, e := range entries {
			c.frequent.exit(e)
		}
	}
	return c
}

// maxBrief bounds the bytes of blocks that are kept briefly. It has room for the blocks of some readers at once. A reader
// who goes from place to place fills no more of the budget than this with old blocks.
const maxBrief = 64 << 20

// home returns the window that a block enters that is about to be loaded; nil if it is not kept.
func (c *Cache) home(e *entry, keep Keep) *window {
	if keep == Never {
		return nil
	}
	before := c.seen.ask(e.hash, time.Now())
	e.again = before != unseen
	e.brief = keep != Always && before != earlier
	switch {
	case !e.brief:
		return &c.window
	case keep == Briefly || before == lately:
		return &c.brief
	}
	return nil
}

// evict offers ristretto those entries that leave the window whose blocks had to be loaded more than once, and lets the
// others go: what one long read leaves does not count against blocks that readers return to.
func (c *Cache) evict(entries []*entry) {
	again := entries[:0]
	for _, e := range entries {
		if e.again {
			again = append(again, e)
		} else {
			c.frequent.exit(e)
		}
	}
	c.frequent.offer(again)
}

// Close waits for the loads that are under way, forgets all blocks and ends the
// cache's goroutines. Blocks that readers hold stay valid; later readers
// get [ErrClosed].
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.running.Wait()
	for _, e := range append(c.window.clear(), c.brief.clear()...) {
		c.release(e)
	}
	c.frequent.close()
	c.arena.close()
}

// enter keeps Close from going on until running.Done is called. It returns false after Close.
func (c *Cache) enter() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.closed {
		c.running.Add(1)
	}
	return !c.closed
}

// Reserve takes n bytes of the budget for blocks that a [Hold] keeps, and Unreserve gives them back. Half of the
// budget can be reserved, so that there is always room for other blocks. Reserve returns false, and takes nothing,
// if there are too few.
func (c *Cache) Reserve(n int64) bool {
	return c.window.reserve(n) // the window has 4/5 of the budget, of which 5/8 are half of it
}

// Reservable returns how many bytes can be reserved when nothing is.
func (c *Cache) Reservable() int64 { return c.window.reservable() }

// Unreserve gives back what Reserve took.
func (c *Cache) Unreserve(n int64) { c.window.unreserve(n) }

// Stats is a snapshot of what a cache did since it was made. The numbers are read
// one after the other and need not fit together exactly while readers are busy.
type Stats struct {
	Hits        uint64 // blocks that were in memory when they were wanted
	Shared      uint64 // blocks that another reader's load was decoding
	Loads       uint64 // blocks asked of the sources
	Failures    uint64 // loads that ended with an error
	LoadedBytes uint64 // decoded bytes that the loads brought
	Dropped     uint64 // blocks that had to go because of the budget
	HeldBytes   int64  // bytes taken of the budget now
}

// Stats returns the numbers. It is cheap enough to be asked every second.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits:        c.hits.Load(),
		Shared:      c.shared.Load(),
		Loads:       c.loads.Load(),
		Failures:    c.failures.Load(),
		LoadedBytes: c.bytes.Load(),
		Dropped:     c.frequent.dropped.Load(),
		HeldBytes:   c.window.used.Load() + c.brief.used.Load() + c.window.reserved.Load() + c.frequent.used(),
	}
}
