package cache

// KeepAtMost lowers the number of bytes of blocks that the cache keeps, and gives the memory of the others back to the
// system. It is for a server that will only serve what is already open. Holds may reserve as much as before: without
// them, a reader in order would become many times slower. A number that is not lower than the present one has no
// effect.
func (c *Cache) KeepAtMost(n int64) {
	n = max(n, 0)
	c.frequent.keepAtMost(max(n/5, 1))
	c.shortTerm.keepAtMost(n / 8)
	c.recent.setLent(c.shortTerm.used.Load())
	c.recent.keepAtMost(n - n/5)
	c.arena.lowerLimit(n + maxInFlight)
}

// keepAtMost leaves n bytes of the capacity to entries. The rest is for holds.
func (l *recentList) keepAtMost(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unused = max(l.unused, l.capacity-n)
	l.makeRoom(0)
}

// keepAtMost lowers the capacity to n bytes, and drops all entries: ristretto evicts only for new ones.
func (f *frequent) keepAtMost(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && n < f.ristretto.MaxCost() {
		f.ristretto.UpdateMaxCost(n)
		f.ristretto.Clear()
	}
}

// lowerLimit lowers the limit to n bytes, and gives all free buffers back to the kernel.
func (a *arena) lowerLimit(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.limit = min(a.limit, n)
	a.trim(0)
}
