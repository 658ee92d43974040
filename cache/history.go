package cache

import (
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// history remembers which blocks were requested, and when. It is a table of buckets. A new block replaces the oldest
// one of its bucket. A block is represented by 24 bits of its hash, and a time by its seconds modulo 256. So the
// history is sometimes wrong. Only speed depends on it.
type history []bucket

// bucket holds blocks as 24 bits of hash and 8 bits of time, the newest first.
type bucket [4]atomic.Uint32

// recency is when a block was first requested.
type recency int

const (
	unseen  recency = iota // never, as far as the history knows
	justNow                // in this second or the last one: probably by the same burst of reads
	earlier                // before: a reader has returned to the block
)

// newHistory returns a history for a cache of budget bytes. It has at least n buckets.
func newHistory(budget int64, n int) history {
	for int64(n) < 4*budget/usualBlock {
		n *= 2
	}
	return make(history, n)
}

// neighbours is the number of blocks, one after the other in the grid, whose buckets are neighbours in the table. It is
// a power of two. Most requests are for rows of blocks, and four buckets share a line of the processor's cache.
const neighbours = 32

// bucketOf returns the number of the bucket of a block. It may be larger than the table.
func bucketOf(k volume.Key) uint64 {
	inGroup := k.Index % neighbours
	k.Index /= neighbours
	return hash(k)*neighbours + inGroup
}

// recordRequest records a request for the block with hash h, which belongs to a bucket, and returns when the block was
// first requested before.
func (t history) recordRequest(h, bucket uint64, now time.Time) recency {
	b, block, second := &t[bucket%uint64(len(t))], uint32(h>>40)<<8, uint32(now.Unix())&0xFF
	b[0].Or(0) // a write: if the first access of a page reads, the kernel has to stop all cores when it is written
	for i := range b {
		switch slot := b[i].Load(); {
		case slot&^0xFF != block:
		case (second-slot)&0xFF <= 1:
			return justNow
		default:
			return earlier
		}
	}
	for i := len(b) - 1; i > 0; i-- {
		b[i].Store(b[i-1].Load())
	}
	b[0].Store(block | second)
	return unseen
}
