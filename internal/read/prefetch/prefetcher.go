package prefetch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/cache"
)

// Prefetcher is what all readers share: the memory budget and the portions.
type Prefetcher struct {
	*limits
	cache *cache.Cache

	mu       sync.Mutex
	portions map[portionKey]*portion // those in the window of a reader
	owners   map[*Reader]bool        // readers that have reserved memory
}

// New returns a Prefetcher that reserves up to half of the budget of the cache.
func New(c *cache.Cache) *Prefetcher {
	return &Prefetcher{limits: &usual, cache: c, portions: map[portionKey]*portion{}, owners: map[*Reader]bool{}}
}

// Cache returns the cache, which owns the memory.
func (p *Prefetcher) Cache() *cache.Cache { return p.cache }

// acquire returns the portion of a key, or nil if no reader has it. The caller must release its hold.
func (p *Prefetcher) acquire(key portionKey) *portion {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.portions[key]
	if s != nil {
		s.hold.Acquire()
	}
	return s
}

// add lets all readers find a portion.
func (p *Prefetcher) add(s *portion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.portions[s.key] = s
}

// drop removes a portion that its owner does not need any more, and releases its hold.
func (p *Prefetcher) drop(s *portion) {
	p.remove(s)
	s.hold.Close()
}

// remove makes a portion unknown to other readers.
func (p *Prefetcher) remove(s *portion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.portions[s.key] == s {
		delete(p.portions, s.key)
	}
}

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
