package store

import "sync/atomic"

// nearAfter is how many ranges in a row a disk cache must have after one that it did not have. They have 128 KiB in
// most cubes that do not compress, so these are 8 MiB.
const nearAfter = 64

// nearness decides whether a disk cache answers for its source. The first range decides at once. It is safe for
// concurrent use.
type nearness struct {
	hits atomic.Int32 // above 0: near. Below, it is how many hits are needed to become near, times -1
}

func (n *nearness) near() bool { return n.hits.Load() > 0 }

// hit counts a range that the disk cache had.
func (n *nearness) hit() {
	for {
		hits := n.hits.Load()
		if hits > 0 || n.hits.CompareAndSwap(hits, hits+1) {
			return
		}
	}
}

// miss counts a range that the source has to answer.
func (n *nearness) miss() { n.hits.Store(1 - nearAfter) }
