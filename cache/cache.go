package cache

import "errors"

// ErrClosed is what readers get who want a block loaded after [Cache.Close].
var ErrClosed = errors.New("the block cache is closed")

// Cache is a store of decoded blocks. It has to be closed.
type Cache struct {
	window   window
	frequent *frequent
	loader   *loader
	hash     func(key) uint64
}

// New returns an empty cache for so many bytes of decoded blocks. With a budget
// of 0, or one that is smaller than a block, nothing is kept, and still one load
// serves all readers that wait for it.
func New(budget int64) *Cache { return newCache(budget, hash) }

// newCache is New with any function to hash the keys.
func newCache(budget int64, hash func(key) uint64) *Cache {
	// Ristretto refuses to have no room at all.
	c := &Cache{frequent: newFrequent(max(budget/5, 1)), loader: newLoader(), hash: hash}
	c.window.capacity = max(budget-budget/5, 0)
	c.window.offer = c.frequent.offer
	return c
}

// Close waits for the loads that are under way, forgets all blocks and ends the
// cache's goroutines. Blocks that readers hold stay valid; readers that come later
// get [ErrClosed].
func (c *Cache) Close() {
	c.loader.close()
	c.window.clear()
	c.frequent.close()
}

// lookup returns the entry of k if it is kept, or nil.
func (c *Cache) lookup(h uint64, k key) *entry {
	if e := c.window.get(h, k); e != nil {
		return e
	}
	return c.frequent.get(h, k)
}

// Stats is a snapshot of what a cache did since it was made. The numbers are read
// one after the other and need not fit together exactly while readers are busy.
type Stats struct {
	Hits        uint64 // blocks that were kept when they were wanted
	Shared      uint64 // readers that waited for a load that another one had started
	Loads       uint64 // blocks asked of the sources
	Failures    uint64 // loads that ended with an error
	LoadedBytes uint64 // decoded bytes that the loads brought
	Dropped     uint64 // blocks that had to go because of the budget
	HeldBytes   int64  // bytes taken of the budget now
}

// Stats returns the numbers. It is cheap enough to be asked every second.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits:        c.window.index.hitCount() + c.frequent.hits.Load(),
		Shared:      c.loader.shared.Load(),
		Loads:       c.loader.loads.Load(),
		Failures:    c.loader.failures.Load(),
		LoadedBytes: c.loader.bytes.Load(),
		Dropped:     c.frequent.dropped.Load(),
		HeldBytes:   c.window.used.Load() + c.window.reserved.Load() + c.frequent.used(),
	}
}
