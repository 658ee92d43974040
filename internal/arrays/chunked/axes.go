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

// axes returns the array axes of x, y, z and the channel. It fails if another axis is longer than 1, and the options do
// not say what is shown of it.
func (a *Array) axes(o Options) ([4]int, error) {
	found, names, err := a.named(o)
	if err == nil && o.Index == nil {
		err = a.checkOthers(names, found)
	}
	return found, err
}

// named returns the array axes of x, y, z and the channel, and the names of all axes. The names of the options are
// those of metadata that describe the array from outside; they win over those of the array, and may be fewer. Axes that
// the array does not name have the usual names.
func (a *Array) named(o Options) ([4]int, []string, error) {
	names := o.Axes
	if names != nil {
		for len(names) < len(a.Shape) {
			names = append(names[:len(names):len(names)], "")
		}
		found, ok := findAxes(names, len(a.Shape))
		if !ok {
			return found, nil, fmt.Errorf("axes: expected names with x, y or z for %d axes, found %q", len(a.Shape),
				names)
		}
		return found, names, nil
	}
	usual := a.usualNames(o.UsualXYZ)
	for _, n := range [][]string{a.nameLast(usual), a.completeNames(usual)} {
		if found, ok := findAxes(n, len(a.Shape)); ok {
			return found, n, nil
		}
	}
	return [4]int{}, nil, fmt.Errorf("dimension names: expected names with x, y or z for %d axes, found %q",
		len(a.Shape), a.Names)
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

// nameLast returns the names of the array. If two of x, y and z are there, an axis without a name is the third: the
// only one, or the one where it usually is. If all three are there, the only axis without a name is that of the
// channels.
func (a *Array) nameLast(usual []string) []string {
	var absent, unnamed []int // of x, y and z; of the axes
	for i, name := range []string{"x", "y", "z"} {
		if !slices.ContainsFunc(a.Names, func(n string) bool { return axisName(n) == name }) {
			absent = append(absent, i)
		}
	}
	for i, name := range a.Names {
		if name == "" {
			unnamed = append(unnamed, i)
		}
	}
	if len(absent) == 0 && len(unnamed) == 1 && a.extent(unnamed[0]) > 1 &&
		!slices.ContainsFunc(a.Names, func(n string) bool { return axisName(n) == "c" }) {
		names := slices.Clone(a.Names)
		names[unnamed[0]] = "c"
		return names
	}
	if len(absent) != 1 || len(unnamed) == 0 {
		return a.Names
	}
	last, at := "xyz"[absent[0]:absent[0]+1], unnamed[0]
	if len(unnamed) > 1 {
		if at = slices.Index(usual, last); !slices.Contains(unnamed, at) {
			return a.Names
		}
	}
	names := slices.Clone(a.Names)
	names[at] = last
	return names
}

// extent returns the length of an axis, or 0 if there are more names than axes.
func (a *Array) extent(axis int) int {
	if axis >= len(a.Shape) {
		return 0
	}
	return a.Shape[axis]
}

// completeNames returns the names of the axes if those of the array do not suffice: the usual ones. If names of the
// array, such as time, contradict these, it is the names of the array, and the others are x, y and z: x is the last
// one, or the first one where the usual names begin with x.
func (a *Array) completeNames(usual []string) []string {
	if len(a.Names) != len(a.Shape) || len(a.Shape) == 1 {
		return usual
	}
	var names, free []string
	contradicts := false
	for i, name := range a.Names {
		short := ""
		if isUsual(name) {
			short = axisName(name)
		}
		names = append(names, short)
		contradicts = contradicts || short != "" && (usual == nil || short != usual[i])
	}
	if !contradicts {
		return usual
	}
	for _, name := range []string{"x", "y", "z"} {
		if !slices.Contains(names, name) {
			free = append(free, name)
		}
	}
	xFirst := usual != nil && slices.Index(usual, "x") < slices.Index(usual, "y")
	for i := range names {
		at := i
		if !xFirst {
			at = len(names) - 1 - i
		}
		if names[at] == "" && len(free) > 0 {
			names[at], free = free[0], free[1:]
		}
	}
	return names
}

// isUsual reports whether a name is one of x, y, z, c and t.
func isUsual(name string) bool {
	return slices.Contains([]string{"x", "y", "z", "c", "t"}, axisName(name))
}

// findAxes finds the axes with the names x, y, z and c. It returns false if these are not unique, or if less than two
// axes are x, y or z and there are others whose names are unknown.
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
	spatial, unknown := 0, 0
	for i, name := range names {
		switch {
		case slices.Contains(found[:axisC], i):
			spatial++
		case !isUsual(name):
			unknown++
		}
	}
	return found, spatial >= 2 || spatial == 1 && unknown == 0
}

// axisName returns the short form of a name.
func axisName(name string) string {
	switch name {
	case "X", "Y", "Z", "C", "T":
		return string(name[0] + 'a' - 'A')
	case "channel", "channels", "Channel":
		return "c"
	case "time", "Time":
		return "t"
	}
	return name
}

// checkOthers fails if an axis that is not shown is longer than 1.
func (a *Array) checkOthers(names []string, shown [4]int) error {
	for i, n := range a.Shape {
		if n > 1 && !slices.Contains(shown[:], i) {
			return Unsupported{
				Part:     fmt.Sprintf("axis %q", a.nameOf(i, names)),
				Expected: "length 1, because only x, y, z and channels are shown",
				Found:    fmt.Sprintf("%d: copy what is at one index of this axis into an array of its own", n),
			}
		}
	}
	return nil
}

// nameOf returns the name of an axis.
func (a *Array) nameOf(axis int, names []string) string {
	if names[axis] == "" && len(a.Names) == len(a.Shape) {
		return a.Names[axis]
	}
	return names[axis]
}
