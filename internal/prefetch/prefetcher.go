package prefetch

import (
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
	p.mu.Lock()
	if p.portions[s.key] == s {
		delete(p.portions, s.key)
	}
	p.mu.Unlock()
	s.hold.Close()
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
	p.mu.Lock()
	delete(p.owners, r)
	p.mu.Unlock()
	p.cache.Unreserve(n)
}

// reclaim takes the portions of one idle reader. It returns false if no reader is idle.
func (p *Prefetcher) reclaim(now time.Time) bool {
	p.mu.Lock()
	var owners []*Reader
	for r := range p.owners {
		owners = append(owners, r)
	}
	p.mu.Unlock()
	for _, r := range owners {
		if r.releaseIfIdle(now) {
			return true
		}
	}
	return false
}
