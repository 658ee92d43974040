package chunked

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestFactorOfSizes: sizes tell the factor if they are rounded up or down after a division.
func TestFactorOfSizes(t *testing.T) {
	for _, c := range []struct{ finest, size, want volume.Vec }{
		{volume.Vec{32, 16, 8}, volume.Vec{16, 8, 8}, volume.Vec{2, 2, 1}},
		{volume.Vec{33, 33, 1}, volume.Vec{16, 17, 1}, volume.Vec{2, 2, 1}},
		{volume.Vec{1001, 1001, 9}, volume.Vec{125, 126, 3}, volume.Vec{8, 8, 3}}, // 9 is divided exactly
		{volume.Vec{10, 7, 5}, volume.Vec{3, 2, 1}, volume.Vec{4, 4, 5}},
		{volume.Vec{900, 900, 900}, volume.Vec{300, 300, 300}, volume.Vec{3, 3, 3}},
		{volume.Vec{1 << 40, 1, 1}, volume.Vec{1, 1, 1}, volume.Vec{1 << 40, 1, 1}},
		{volume.Vec{32, 32, 32}, volume.Vec{20, 20, 20}, volume.Vec{}},
		{volume.Vec{32, 32, 32}, volume.Vec{64, 32, 32}, volume.Vec{}},
		{volume.Vec{}, volume.Vec{}, volume.Vec{}},
		{volume.Vec{1, 1, 1}, volume.Vec{1 << 40, 1, 1}, volume.Vec{}},
	} {
		if got := FactorOfSizes(c.finest, c.size); got != volume.Factor(c.want) {
			t.Errorf("%v and %v: got %v, expected %v", c.finest, c.size, got, c.want)
		}
	}
}
