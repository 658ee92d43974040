package diskcache

import "sync/atomic"

// Stats are the numbers of a cache since it was opened by this process. Used and Size are for all processes.
type Stats struct {
	Dir  string
	Size int64 // maximum of Used, in bytes
	Used int64 // bytes on the disk, as last known

	Hits   uint64 // reads that made no request and waited for none
	Shared uint64 // reads that waited for requests of others alone
	Misses uint64 // reads that made a request

	HitBytes     uint64 // that hits returned
	FetchedBytes uint64 // read from the source; more than readers asked for
	WrittenBytes uint64 // stored
	DroppedBytes uint64 // not stored, because the disk was too slow, full or read-only

	Evicted      uint64 // pieces removed by this process to make room
	EvictedBytes uint64
	Damaged      uint64 // pages read again because their checksums were wrong
}

type counts struct {
	hits, shared, misses                atomic.Uint64
	hitBytes, fetched, written, dropped atomic.Uint64
	evicted, evictedBytes, damaged      atomic.Uint64
	used                                atomic.Int64
}

func (c *counts) hit(n int) {
	c.hits.Add(1)
	c.hitBytes.Add(uint64(n))
}

// join counts a read of n bytes, not all of which are on the disk.
func (c *counts) join(j joined, n int) {
	switch {
	case j.started:
		c.misses.Add(1)
	case j.waits:
		c.shared.Add(1)
	default:
		c.hit(n)
	}
}

// Stats returns the numbers of the cache. It does not wait for the disk.
func (c *Cache) Stats() Stats {
	n := &c.counts
	return Stats{
		Dir: c.Dir(), Size: c.options.Size, Used: n.used.Load(),
		Hits: n.hits.Load(), Shared: n.shared.Load(), Misses: n.misses.Load(),
		HitBytes: n.hitBytes.Load(), FetchedBytes: n.fetched.Load(), WrittenBytes: n.written.Load(), DroppedBytes: n.dropped.Load(),
		Evicted: n.evicted.Load(), EvictedBytes: n.evictedBytes.Load(), Damaged: n.damaged.Load(),
	}
}
