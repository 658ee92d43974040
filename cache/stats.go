package cache

// Stats counts what a cache has done since it was created. The numbers are read one after the other, so they may be
// slightly inconsistent while requests run.
type Stats struct {
	Hits        uint64 // requested blocks that were in memory
	Shared      uint64 // requested blocks that the load of another request was decoding
	Loads       uint64 // blocks that were requested from sources
	Failures    uint64 // blocks that could not be loaded
	LoadedBytes uint64 // decoded bytes of loaded blocks
	Dropped     uint64 // blocks that were evicted
	HeldBytes   int64  // bytes of the budget in use now
	LentBytes   int64  // bytes of blocks in memory now: those that are kept, and those that readers use
}

// Stats returns the current numbers. It is cheap enough for a call per second.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits:        c.hits.Load(),
		Shared:      c.shared.Load(),
		Loads:       c.loads.Load(),
		Failures:    c.failures.Load(),
		LoadedBytes: c.bytes.Load(),
		Dropped:     c.frequent.dropped.Load(),
		HeldBytes:   c.recent.used.Load() + c.shortTerm.used.Load() + c.recent.reserved.Load() + c.frequent.used(),
		LentBytes:   c.arena.lentBytes(),
	}
}
