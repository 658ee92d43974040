package arrayfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// TestSpacingOfRotatedNRRD: the spacing of each axis is the length of its direction, whichever axis is rotated or
// mirrored.
func TestSpacingOfRotatedNRRD(t *testing.T) {
	const nm = `"nm" "nm" "nm"`
	for _, test := range []struct {
		directions, units string
		invalid           bool
		want              [3]float64 // nm
	}{
		{"(4,0,0) (0,5,0) (0,0,6)", nm, false, [3]float64{4, 5, 6}},
		{"(-4,0,0) (0,5,0) (0,0,6)", nm, true, [3]float64{4, 5, 6}},
		{"(4,0,0) (0,-5,0) (0,0,6)", nm, true, [3]float64{4, 5, 6}},
		{"(4,0,0) (0,5,0) (0,0,-6)", nm, true, [3]float64{4, 5, 6}},
		{"(3,4,0) (-8,6,0) (0,0,6)", nm, true, [3]float64{5, 10, 6}},
		{"(0,0,4) (0,5,0) (6,0,0)", `"um" "nm" "nm"`, true, [3]float64{4, 5, 6000}},
		{"(4,0,0) (0,5,0) (0,0,-6)", `"nm" "furlong" "nm"`, true, [3]float64{4, 0, 6}},
		{"(3,4,0) (0,5,0) (0,0,6)", `"nm" "furlong" "nm"`, true, [3]float64{0, 0, 6}},
		{"(0,0,0) (0,5,0) (0,0,6)", nm, true, [3]float64{0, 5, 6}},
		{"(4,0,0) (0,5,0) (0,0,-6)", "", true, [3]float64{}},
	} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path,
			fmt.Appendf(nil,
				"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1 1 1\nencoding: raw\nspace directions: %s\nspace units: %s\n\n1", test.directions, test.units))
		a := mustOpen(t, path)
		if errors.Is(a.PositionErr, ErrPosition) != test.invalid || a.Grid.Spacing != test.want {
			t.Errorf("%s in %s: spacing %v, error %v", test.directions, test.units, a.Grid.Spacing, a.PositionErr)
		}
	}
}
