package cache

// budget says who may take how much of the memory for blocks: the lists that keep blocks, holds, and flights of large
// blocks. It is protected by mu of its Cache.
type budget struct {
	total    int64
	kept     int64 // of these, what the lists may keep at most
	borrowed int64 // bytes that flights have
}

// forRecent returns the part of n bytes that the recent list has. The rest is for ristretto.
func forRecent(n int64) int64 { return n - n/5 }

// Reservable returns the number of bytes that can be reserved in total. It is half of the budget, so there is always
// room for other blocks.
func (c *Cache) Reservable() int64 { return forHolds(forRecent(c.budget.total)) }

// forHolds returns the part of the recent list that holds may have, if the list has n bytes.
func forHolds(n int64) int64 { return n * 5 / 8 }

// Reserve takes n bytes of the budget for the blocks of holds. If fewer than n bytes can be reserved, Reserve takes
// nothing and returns false.
func (c *Cache) Reserve(n int64) bool { return c.recent.reserve(n) }

// Unreserve gives back n bytes that Reserve took.
func (c *Cache) Unreserve(n int64) { c.recent.reserved.Add(-n) }

// lend lets loads of large blocks have n bytes more of the budget, or fewer if n is negative. The lists keep less
// meanwhile.
func (c *Cache) lend(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.budget.borrowed += n
	c.divide()
}

// KeepAtMost lowers the number of bytes of blocks that the cache keeps, and gives the memory of the others back to the
// system. It is for a server that will only serve what is already open. Holds may reserve as much as before: without
// them, a reader in order would become many times slower. A number that is not lower than the present one has no
// effect.
func (c *Cache) KeepAtMost(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n = max(n, 0); n < c.budget.kept {
		c.budget.kept = n
		c.divide()
		c.arena.lowerLimit(n + c.limits.inFlight)
	}
}

// divide sets what each list may not use. What flights borrow comes from the recent list as far as holds leave it, and
// then from the other lists. It is called with mu held.
func (c *Cache) divide() {
	total, kept, borrowed := c.budget.total, c.budget.kept, c.budget.borrowed
	recent, short := forRecent(total), c.shortTerm.capacity
	more := borrowed - (recent - forHolds(recent))
	c.shortTerm.setLent(max(short-kept/8, 0) + min(max(more+short, 0), short))
	c.recent.setLent(recent - forRecent(kept) + borrowed)
	c.frequent.setLent(total/5 - kept/5 + max(more, 0))
}
