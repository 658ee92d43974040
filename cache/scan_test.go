//go:build !race

// Under the race detector, a sync.Pool drops items at random. Ristretto then loses the counts that this test depends
// on.

package cache

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// One reader scans many blocks. Another one returns to few blocks after they left the recent list. Ristretto keeps
// these.
func TestScanKeepsFrequentBlocks(t *testing.T) {
	const size = 4096
	scanned, wanted := newArray(1, volume.Vec{4000, 1, 1}, size), newArray(2, volume.Vec{10, 1, 1}, size)
	c := newTestCache(t, 100*(size+overhead))
	scan, want := c.Source(scanned), c.Source(wanted)
	for i := range 4000 {
		checkBlock(t, scan, scanned, volume.Vec{i, 0, 0})
		if i%200 == 199 { // more than the recent list holds
			for b := range allBlocks(wanted) {
				checkBlock(t, want, wanted, b)
			}
		}
	}
	if got := wanted.total(); got > 100 {
		t.Errorf("%d loads of 10 blocks that were read 20 times, expected at most 100", got)
	}
}
