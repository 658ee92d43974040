package relabel

import (
	"context"
	"sync"
	"sync/atomic"
)

// page is a part of a list in memory.
type page struct {
	ids  []uint64
	used atomic.Bool // since the last eviction looked
}

// maxBytes limits the memory of the pages of all tables. The page that was read last may be longer.
const maxBytes = 128 << 20

// pageCache is the pages of all tables in memory. A page that was used since eviction last looked at it gets a second
// chance.
type pageCache struct {
	most int

	mu    sync.Mutex
	bytes int
	queue []entry // the oldest first
}

// entry is where a page is held.
type entry struct {
	at   *atomic.Pointer[page]
	page *page
}

var allPages = &pageCache{most: maxBytes}

// put adds a page, and drops others that have not been used.
func (c *pageCache) put(at *atomic.Pointer[page], p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at.Store(p)
	c.queue = append(c.queue, entry{at, p})
	c.bytes += 8 * len(p.ids)
	for range 2 * len(c.queue) { // the first round clears the bits of pages, the second one drops them
		if c.bytes <= c.most {
			break
		}
		e := c.queue[0]
		c.queue = c.queue[1:]
		if e.page == p || e.page.used.Swap(false) {
			c.queue = append(c.queue, e)
			continue
		}
		e.at.CompareAndSwap(e.page, nil) // another goroutine may have put the same page meanwhile
		c.bytes -= 8 * len(e.page.ids)
	}
}

// page returns a page of a list. Goroutines that need the same page at once may each read it.
func (s *state) page(ctx context.Context, p uint64) ([]uint64, error) {
	if held := s.pages[p].Load(); held != nil {
		if !held.used.Load() {
			held.used.Store(true)
		}
		return held.ids, nil
	}
	ids, err := s.load(ctx, p)
	if err != nil {
		return nil, err
	}
	allPages.put(&s.pages[p], &page{ids: ids})
	return ids, nil
}
