package chunked

import (
	"slices"
	"strings"
	"testing"
)

// TestAxes: names say which axis is which. Axes without a name have the usual names, unless the other names contradict
// them.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		name    string
		names   []string // of the array
		outside []string // of the metadata around it
		shape   []int
		xFirst  bool
		xyz     bool
		want    [4]int // axes of x, y, z and the channel
		err     string
	}{
		{name: "no names", shape: []int{2, 3, 4}, want: [4]int{2, 1, 0, none}},
		{name: "no names, x first", shape: []int{2, 3, 4, 5}, xFirst: true, want: [4]int{0, 1, 2, 3}},
		{name: "no names, as in WEBKNOSSOS", shape: []int{5, 2, 3, 4}, xyz: true, want: [4]int{1, 2, 3, 0}},
		{name: "names", names: []string{"x", "z", "y"}, shape: []int{2, 3, 4}, want: [4]int{0, 2, 1, none}},
		{name: "a plane of x and z", names: []string{"z", "x"}, shape: []int{2, 3}, want: [4]int{1, none, 0, none}},
		{name: "a plane of y and z, from outside", outside: []string{"y", "z"}, shape: []int{2, 3},
			want: [4]int{none, 0, 1, none}},
		{name: "a row with channels", names: []string{"c", "z"}, shape: []int{2, 3}, want: [4]int{none, none, 1, 0}},
		{name: "a row along z", names: []string{"z"}, shape: []int{3}, want: [4]int{none, none, 0, none}},
		{name: "a row of something else", names: []string{"time"}, shape: []int{3}, want: [4]int{0, none, none, none}},
		{name: "unknown names", names: []string{"depth", "row", "col"}, shape: []int{2, 3, 4},
			want: [4]int{2, 1, 0, none}},
		{name: "null names", names: []string{"", "", ""}, shape: []int{2, 3, 4}, want: [4]int{2, 1, 0, none}},
		{name: "a null name between others", names: []string{"z", "", "x"}, shape: []int{2, 3, 4},
			want: [4]int{2, 1, 0, none}},
		{name: "a null name, x first", names: []string{"x", "", "Z"}, shape: []int{2, 3, 4},
			want: [4]int{0, 1, 2, none}},
		{name: "a null name in another place", names: []string{"", "z", "x"}, shape: []int{2, 3, 4},
			want: [4]int{2, 0, 1, none}},
		{name: "a null name where channels are usual", names: []string{"", "z", "y", "x"}, shape: []int{1, 2, 3, 4},
			want: [4]int{3, 2, 1, none}},
		{name: "a null name that only channels can have", names: []string{"", "z", "y", "x"}, shape: []int{2, 2, 3, 4},
			want: [4]int{3, 2, 1, 0}},
		{name: "null names of y and of channels", names: []string{"", "z", "", "x"}, shape: []int{1, 2, 3, 4},
			want: [4]int{3, 2, 1, none}},
		{name: "two null names that may be y", names: []string{"", "y", "", "x"}, shape: []int{1, 2, 3, 4},
			err: `unsupported axis ""`},
		{name: "names of a coarser mag for xarray", names: []string{"z_2", "y_2", "x_2"}, shape: []int{2, 3, 4},
			want: [4]int{2, 1, 0, none}},
		{name: "such names, and channels", names: []string{"c", "z_2", "y_2", "x_2"}, shape: []int{5, 2, 3, 4},
			want: [4]int{3, 2, 1, 0}},
		{name: "one name as usual", names: []string{"z", "lat", "lon"}, shape: []int{2, 3, 4},
			want: [4]int{2, 1, 0, none}},
		{name: "channels where z is usual", names: []string{"channel", "row", "col"}, shape: []int{2, 3, 4},
			want: [4]int{2, 1, none, 0}},
		{name: "one time", names: []string{"time", "lat", "lon"}, shape: []int{1, 3, 4},
			want: [4]int{2, 1, none, none}},
		{name: "times where z is usual", names: []string{"time", "lat", "lon"}, shape: []int{2, 3, 4},
			err: `unsupported axis "t": expected length 1`},
		{name: "channels where z is usual, x first", names: []string{"col", "row", "c"}, shape: []int{2, 3, 4},
			xFirst: true, want: [4]int{0, 1, none, 2}},
		{name: "an axis that is not shown", names: []string{"angle", "y", "x"}, shape: []int{2, 3, 4},
			err: `unsupported axis "angle"`},
		{name: "a name twice", names: []string{"x", "x"}, shape: []int{2, 3}, err: "expected names with x, y or z"},
		{name: "names from outside that do not tell", outside: []string{"a", "b"}, shape: []int{2, 3},
			err: "axes: expected names with x, y or z"},
	} {
		a := Array{Names: c.names, Shape: c.shape, XFirst: c.xFirst}
		got, err := a.axes(Options{Axes: c.outside, UsualXYZ: c.xyz})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, %v, expected %q", c.name, got, err, c.err)
			}
			continue
		}
		if err != nil || !slices.Equal(got[:], c.want[:]) {
			t.Errorf("%s: got %v, %v, expected %v", c.name, got, err, c.want)
		}
	}
}
