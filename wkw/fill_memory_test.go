package wkw

import (
	"runtime/debug"
	"testing"
)

// TestFillersAreReused: as many loads as a late source has at a time find the memory of the loads before, also if each
// needs a little more than the one before.
func TestFillersAreReused(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties a pool
	const loads = 32
	fresh := 0
	for round := range 4 {
		var all [loads]*filler
		for i := range all {
			all[i] = newFiller()
			n := maxBatch + (loads*round+i)*(maxBatch/8)/(4*loads)
			before := cap(all[i].batch)
			all[i].reserve(n)
			if room := cap(all[i].batch); room < n || room > maxKept {
				t.Fatalf("room for %d bytes: %d, at most %d is kept", n, room, maxKept)
			}
			if round > 0 && before < n {
				fresh++
			}
		}
		for _, s := range all {
			s.release()
		}
	}
	if fresh > 3*loads*3/4 { // with the race detector, a pool drops some
		t.Errorf("%d of %d loads needed new memory", fresh, 3*loads)
	}
	for _, n := range []int{1, 4096, 4097, 1 << 20, maxKept, maxKept + 1} {
		var s filler
		if s.reserve(n); cap(s.batch) < n || cap(s.batch) > max(2*n, 1) || n <= maxKept && cap(s.batch) > maxKept {
			t.Errorf("room for %d bytes: %d", n, cap(s.batch))
		}
	}
}
