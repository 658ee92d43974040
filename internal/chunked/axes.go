package chunked

import (
	"fmt"
	"slices"
)

// The axes of a voxel, as indices of geometry.axis.
const (
	axisX = iota
	axisY
	axisZ
	axisC
)

const none = -1 // the array has no such axis

// defaultNames are the names of axes that nothing names, by their number, slowest first.
var defaultNames = [][]string{{}, {"x"}, {"y", "x"}, {"z", "y", "x"}, {"c", "z", "y", "x"}, {"t", "c", "z", "y", "x"}}

// axes returns the array axes of x, y, z and the channel. The names of the options are those of metadata that describe the
// array from outside; they win over those of the array, and may be fewer. Names of the array that do not tell x and y are not used.
func (a *Array) axes(o Options) ([4]int, error) {
	names := o.Axes
	if names != nil {
		for len(names) < len(a.Shape) {
			names = append(names[:len(names):len(names)], "")
		}
		found, ok := findAxes(names, len(a.Shape))
		if !ok {
			return found, fmt.Errorf("axes: expected names with x and y for %d axes, found %q", len(a.Shape), names)
		}
		return found, a.checkOthers(names, found)
	}
	for _, n := range [][]string{a.Names, a.usualNames(o.UsualXYZ)} {
		if found, ok := findAxes(n, len(a.Shape)); ok {
			return found, a.checkOthers(n, found)
		}
	}
	return [4]int{}, fmt.Errorf("dimension names: expected names with x and y for %d axes, found %q", len(a.Shape), a.Names)
}

// usualNames returns the usual names for the number of axes. It returns nil if there are none.
func (a *Array) usualNames(xyz bool) []string {
	rank := len(a.Shape)
	if rank >= len(defaultNames) {
		return nil
	}
	if xyz && rank >= 3 {
		return slices.Concat([]string{"c", "t"}[:rank-3], []string{"x", "y", "z"})
	}
	names := slices.Clone(defaultNames[rank])
	if a.XFirst {
		slices.Reverse(names)
	}
	return names
}

// findAxes finds the axes with the names x, y, z and c. It returns false if they have no unique x and y.
func findAxes(names []string, rank int) ([4]int, bool) {
	found := [4]int{none, none, none, none}
	if len(names) != rank {
		return found, false
	}
	for i, name := range names {
		axis := slices.Index([]string{"x", "y", "z", "c"}, axisName(name))
		if axis < 0 {
			continue
		}
		if found[axis] != none {
			return found, false
		}
		found[axis] = i
	}
	return found, found[axisX] != none && (rank == 1 || found[axisY] != none)
}

// axisName returns the short form of a name.
func axisName(name string) string {
	switch name {
	case "X", "Y", "Z", "C", "T":
		return string(name[0] + 'a' - 'A')
	case "channel", "channels", "Channel":
		return "c"
	}
	return name
}

// checkOthers fails if an axis that is not shown is longer than 1.
func (a *Array) checkOthers(names []string, shown [4]int) error {
	for i, n := range a.Shape {
		if n > 1 && !slices.Contains(shown[:], i) {
			return Unsupported{
				Part:     fmt.Sprintf("axis %q", names[i]),
				Expected: "length 1, because only x, y, z and channels are shown",
				Found:    fmt.Sprintf("%d: copy what is at one index of this axis into an array of its own", n),
			}
		}
	}
	return nil
}
