package prefetch

import (
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/cache"
)

// Prefetcher is what all readers share: the budget of memory, and the slabs that are in it.
type Prefetcher struct {
	cache *cache.Cache

	mu     sync.Mutex
	slabs  map[slabKey]*slab // that some reader owns
	owners map[*Reader]bool  // that have reserved memory
}

// New returns a Prefetcher that takes up to half of the cache's budget.
func New(c *cache.Cache) *Prefetcher {
	return &Prefetcher{cache: c, slabs: map[slabKey]*slab{}, owners: map[*Reader]bool{}}
}

// Cache returns the owner of the memory.
func (p *Prefetcher) Cache() *cache.Cache { return p.cache }

// find returns a slab, if some reader owns it, for the caller to release its hold.
func (p *Prefetcher) find(key slabKey) *slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slabs[key]
	if s != nil {
		s.hold.Acquire()
	}
	return s
}

// add makes a slab known to all readers.
func (p *Prefetcher) add(s *slab) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slabs[s.key] = s
}

// drop lets go of a slab that its owner needs no more.
func (p *Prefetcher) drop(s *slab) {
	p.mu.Lock()
	if p.slabs[s.key] == s {
		delete(p.slabs, s.key)
	}
	p.mu.Unlock()
	s.hold.Close()
}

// idleTime is how long after its last read a reader may lose its slabs to another one.
const idleTime = time.Second

// reserve takes n bytes of the budget for a reader. If there are too few, and the caller wants that, readers that are idle lose
// their slabs, unless that could not be enough.
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

// release gives back what a reader has reserved.
func (p *Prefetcher) release(r *Reader, n int64) {
	p.mu.Lock()
	delete(p.owners, r)
	p.mu.Unlock()
	p.cache.Unreserve(n)
}

// reclaim takes the slabs of a reader that is idle, and reports whether there was one.
func (p *Prefetcher) reclaim(now time.Time) bool {
	p.mu.Lock()
	var owners []*Reader
	for r := range p.owners {
		owners = append(owners, r)
	}
	p.mu.Unlock()
	for _, r := range owners {
		if r.yield(now) {
			return true
		}
	}
	return false
}
