package diskcache

import "sync/atomic"

// Stats are the numbers of a cache since it was opened by this process. UsedBytes and SizeBytes are those of all
// servers that share the directory. The tags are for the status of a server: see package status.
type Stats struct {
	Dir       string `json:"dir"`
	SizeBytes int64  `json:"size_bytes" metric:"Maximum size of the disk cache."`
	UsedBytes int64  `json:"used_bytes" metric:"Size of the disk cache."` // as last known

	Hits   uint64 `json:"hits" metric:"Reads of a remote source that the disk cache answered."`
	Shared uint64 `json:"shared" metric:"Reads that waited for requests of other readers."`
	Misses uint64 `json:"misses" metric:"Reads that made a request to the remote source."`

	HitBytes uint64 `json:"hit_bytes" metric:"Bytes that the disk cache answered."`
	// more than readers asked for
	FetchedBytes uint64 `json:"fetched_bytes" metric:"Bytes read from the remote source."`
	WrittenBytes uint64 `json:"written_bytes" metric:"Bytes stored in the disk cache."`
	DroppedBytes uint64 `json:"dropped_bytes" metric:"Bytes not stored, because the disk was too slow, full or read-only."`

	Evicted      uint64 `json:"evicted" metric:"Files removed from the disk cache to make room."` // by this process
	EvictedBytes uint64 `json:"evicted_bytes" metric:"Bytes removed from the disk cache to make room."`
	Damaged      uint64 `json:"damaged" metric:"Pages of the disk cache with wrong checksums, which were read again."`
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
		Dir: c.Dir(), SizeBytes: c.options.Size, UsedBytes: n.used.Load(),
		Hits: n.hits.Load(), Shared: n.shared.Load(), Misses: n.misses.Load(),
		HitBytes: n.hitBytes.Load(), FetchedBytes: n.fetched.Load(), WrittenBytes: n.written.Load(),
		DroppedBytes: n.dropped.Load(),
		Evicted:      n.evicted.Load(), EvictedBytes: n.evictedBytes.Load(), Damaged: n.damaged.Load(),
	}
}
