package vfs

import (
	"math"
	"testing"
)

// TestSinkTakes: a sink takes whole pages inside of the file, of all small ranges and of those that overflow.
func TestSinkTakes(t *testing.T) {
	s := Sink{Page: 4}
	for size := int64(0); size <= 18; size++ {
		for off := int64(-5); off <= 22; off++ {
			for n := int64(-1); n <= 20; n++ {
				want := off >= 0 && off%4 == 0 && n > 0 && n%4 == 0 && off+n <= size
				if got := s.Takes(off, n, size); got != want {
					t.Errorf("%d bytes at %d of %d: %v", n, off, size, got)
				}
			}
		}
	}
	const largest = math.MaxInt64
	for _, c := range [][3]int64{{largest - 3, 4, largest}, {largest - 3, 8, 16}, {math.MinInt64, 4, 16},
		{4, largest - 3, 16}} {
		if s.Takes(c[0], c[1], c[2]) {
			t.Errorf("%d bytes at %d of %d are taken", c[1], c[0], c[2])
		}
	}
}
