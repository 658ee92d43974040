package prefetch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/cache"
)

// Prefetcher is what all readers share: the memory budget.
type Prefetcher struct {
	*limits
	cache *cache.Cache

	mu     sync.Mutex
	owners map[*Reader]bool // readers that have reserved memory
}

// New returns a Prefetcher that reserves up to half of the budget of the cache.
func New(c *cache.Cache) *Prefetcher {
	return &Prefetcher{limits: &usual, cache: c, owners: map[*Reader]bool{}}
}

// Cache returns the cache, which owns the memory.
func (p *Prefetcher) Cache() *cache.Cache { return p.cache }

// idleTime is how long after its last read a reader may lose its portions to another one.
const idleTime = time.Second

// reserve reserves n bytes of the budget for a reader. It returns false if they are not available. With reclaim, idle
// readers lose their portions to make room, unless n is more than what can be reserved at all.
func (p *Prefetcher) reserve(r *Reader, n int64, reclaim bool) bool {
	reclaim = reclaim && n <= p.cache.Reservable()
	for !p.cache.Reserve(n) {
		if !reclaim || !p.reclaim(time.Now()) {
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[r] = true
	return true
}

// release gives back the n bytes that a reader has reserved.
func (p *Prefetcher) release(r *Reader, n int64) {
	p.cache.Unreserve(n)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.owners, r)
}

// reclaim takes the portions of one idle reader. It returns false if no reader is idle.
func (p *Prefetcher) reclaim(now time.Time) bool {
	return slices.ContainsFunc(p.allOwners(), func(r *Reader) bool { return r.releaseIfIdle(now) })
}

// allOwners returns the readers that have reserved memory.
func (p *Prefetcher) allOwners() []*Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.owners))
}
