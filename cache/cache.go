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

// ErrClosed is returned by requests that need a load after [Cache.Close].
var ErrClosed = errors.New("the block cache is closed")

// absent is the version of blocks that were never written.
var absent vfs.Version

// Cache is a cache of decoded blocks. It must be closed.
type Cache struct {
	arena     *arena
	index     index
	recent    recentList
	shortTerm recentList // borrows its bytes from recent
	frequent  *frequent
	history   history
	flights   *flights
	lateLoads *semaphore.Weighted // maxLateLoads or maxLongLoads loads
	hash      func(volume.Key) uint64
	limits    limits

	mu      sync.RWMutex // protects closed and budget
	closed  bool
	budget  budget
	running sync.WaitGroup // loads, and requests that may start one; nothing is added after Close

	hits, shared, loads, failures, bytes atomic.Uint64
}

const (
	// maxInFlight bounds the bytes of blocks that are being loaded, or were loaded and are not yet used by their
	// request, and what decoding them takes besides. Larger blocks also borrow from the budget: see flights.
	maxInFlight = 64 << 20

	// maxShortTerm bounds the bytes of the short-term list. It has room for the blocks of some readers at once. A
	// reader that moves from place to place fills no more of the budget than this with blocks that it does not need
	// again.
	maxShortTerm = 64 << 20
)

// cores is the number of goroutines that decode for one reader. It is read at program start: a server later raises
// GOMAXPROCS above the number of processors, because some of its threads wait in the kernel. It respects the quota of
// a container.
var cores = runtime.GOMAXPROCS(0)

// New returns an empty cache with a budget in bytes for decoded blocks. If the budget is smaller than a block,
// nothing is kept. Readers that want the same block at the same time still share one load.
func New(budget int64) *Cache { return newCache(budget, usual) }

// limits bound what a cache does at a time. Tests make them small, so that a few small blocks reach them.
type limits struct {
	load, own, round    int // bytes: see loadBytes, ownBytes and roundBytes
	work                int // bytes: see leastWork
	blocks              int // of a load: see loadBlocks
	inFlight, shortTerm int64
	span                int // bytes
	history             int // the least number of buckets
}

// usual are the limits of all caches.
var usual = limits{
	load: loadBytes, own: ownBytes, round: roundBytes, work: leastWork, blocks: loadBlocks, inFlight: maxInFlight,
	shortTerm: maxShortTerm, span: spanBytes, history: 1 << 10,
}

func newCache(total int64, l limits) *Cache {
	total = max(total, 0)
	c := &Cache{
		limits:    l,
		budget:    budget{total: total, kept: total},
		arena:     newArena(total+l.inFlight, l.span),
		frequent:  newFrequent(total / 5),
		history:   newHistory(total, l.history),
		lateLoads: semaphore.NewWeighted(maxLongLoads),
	}
	c.hash = hash
	c.flights = newFlights(l, total, c.lend)
	c.frequent.release = c.release
	c.arena.reserved = &c.recent.reserved
	c.recent.capacity, c.recent.borrower = forRecent(total), &c.shortTerm
	c.recent.onEvict = c.offer
	c.shortTerm.capacity = min(l.shortTerm, total/8)
	c.shortTerm.onEvict = func(entries []*entry) {
		for _, e := range entries {
			c.frequent.drop(e)
		}
	}
	return c
}

// listFor returns the list that will keep a block that is about to be loaded, or nil if the block will not be kept.
// Unless keep is Never, it records the request in the history, and sets e.seenBefore and e.shortTerm.
func (c *Cache) listFor(e *entry, keep Keep, now time.Time) *recentList {
	if keep == Never {
		return nil
	}
	before := c.history.recordRequest(e.hash, bucketOf(e.key), now)
	if e.seenBefore = before != unseen; e.seenBefore {
		c.frequent.count(e.hash)
	}
	e.shortTerm = keep != Always && before != earlier
	switch {
	case !e.shortTerm:
		return &c.recent
	case keep == ShortTerm || before == justNow:
		return &c.shortTerm
	}
	return nil
}

// offer offers evicted entries of the recent list to ristretto if their blocks were requested before, and drops the
// others. So the blocks of one long scan do not compete with blocks to which readers return.
func (c *Cache) offer(evicted []*entry) {
	candidates := evicted[:0]
	for _, e := range evicted {
		if e.seenBefore {
			candidates = append(candidates, e)
		} else {
			c.frequent.drop(e)
		}
	}
	c.frequent.offer(candidates)
}

// Close waits for the loads in flight, releases all kept blocks and ends the goroutines of the cache. Blocks that
// readers use stay valid. Later requests that need a load return [ErrClosed].
func (c *Cache) Close() {
	c.setClosed()
	c.running.Wait()
	for _, e := range append(c.recent.clear(), c.shortTerm.clear()...) {
		c.release(e)
	}
	c.frequent.close()
	c.arena.close()
}

func (c *Cache) setClosed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// tryStart makes Close wait until running.Done is called. It returns false if the cache is closed.
func (c *Cache) tryStart() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.closed {
		c.running.Add(1)
	}
	return !c.closed
}
