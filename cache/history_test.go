package cache

import (
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// The history remembers the last blocks, and forgets blocks after many others.
func TestHistory(t *testing.T) {
	h := newHistory(0, 1<<10)
	record := func(from, to uint64) (seenBefore int) {
		for i := from; i < to; i++ {
			if h.recordRequest(mix(i), bucketOf(volume.Key{Index: i}), time.Now()) != unseen {
				seenBefore++
			}
		}
		return seenBefore
	}
	if n := record(0, 100); n != 0 {
		t.Errorf("%d of 100 new blocks were seen before", n)
	}
	if n := record(0, 100); n < 95 {
		t.Errorf("%d of 100 blocks are remembered", n)
	}
	others := 16 * uint64(len(h)) // four times as many as there are slots
	record(1000, 1000+others)
	if n := record(0, 100); n > 5 {
		t.Errorf("%d of 100 blocks are remembered after %d others", n, others)
	}
	for _, tt := range []struct {
		budget int64
		n      int
	}{{-1, 1 << 12}, {8 << 20, 1 << 12}, {9 << 20, 1 << 13}, {2 << 30, 1 << 20}} {
		if got := len(newHistory(tt.budget, 1<<10)) * len(bucket{}); got != tt.n {
			t.Errorf("budget %d: %d blocks are remembered, expected %d", tt.budget, got, tt.n)
		}
	}
}
