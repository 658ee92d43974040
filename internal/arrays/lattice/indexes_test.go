package lattice

import "testing"

// TestIndexes: what was used last stays within the budget, and one part stays that is larger.
func TestIndexes(t *testing.T) {
	const one = 10*8 + keyBytes
	x := NewIndexes[int, uint64](3 * one)
	for n := range 3 {
		x.Add(n, make([]uint64, 10))
	}
	x.Add(1, make([]uint64, 10))
	x.Get(0)
	x.Add(2, make([]uint64, 10))
	x.Add(3, make([]uint64, 10))
	for n, want := range []bool{true, false, true, true} {
		if _, kept := x.Get(n); kept != want {
			t.Errorf("index %d: kept %v, expected %v", n, kept, want)
		}
	}
	x.Add(4, make([]uint64, 1000))
	if parts, _ := x.Used(); parts != 1 {
		t.Errorf("%d indexes: expected only the one that is larger than the budget", parts)
	}
	x.Add(5, nil)
	if parts, bytes := x.Used(); parts != 1 || bytes != keyBytes {
		t.Errorf("%d indexes of %d bytes", parts, bytes)
	}
}
