//go:build !race

// Under the race detector a sync.Pool drops at random what is put into it, and with
// that ristretto loses the counts that the choice here is made by.

package cache

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// One reader reads on and on, another one comes back to few blocks, too late for the
// window: ristretto keeps these.
func TestScanLeavesFrequentBlocks(t *testing.T) {
	const size = 4096
	scanned, wanted := newArray(1, volume.Vec{4000, 1, 1}, size), newArray(2, volume.Vec{10, 1, 1}, size)
	c := newTestCache(t, 100*(size+overhead))
	scan, want := c.Source(scanned), c.Source(wanted)
	for i := range 4000 {
		check(t, scan, scanned, volume.Vec{i, 0, 0})
		if i%200 == 199 { // more than the window holds
			for b := range all(wanted) {
				check(t, want, wanted, b)
			}
		}
	}
	if got := wanted.total(); got > 100 {
		t.Errorf("%d loads of 10 blocks wanted 20 times, expected at most 100", got)
	}
}
