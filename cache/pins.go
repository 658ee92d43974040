package cache

import "sync"

// Pins keeps blocks in memory that requests have used, until they are released. The caller should reserve their memory.
// Several goroutines may use a Pins. The zero value has no blocks.
type Pins struct {
	cache *Cache

	mu       sync.Mutex // protects what follows
	entries  []*entry
	released bool
}

// add takes over a reference to an entry. It releases the reference if the Pins was released.
func (p *Pins) add(c *Cache, e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.released {
		c.release(e)
		return
	}
	p.cache = c
	p.entries = append(p.entries, e)
}

// Release releases all blocks, and those that requests in progress will use. A second call has no effect.
func (p *Pins) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.entries {
		p.cache.release(e)
	}
	p.entries, p.released = nil, true
}
