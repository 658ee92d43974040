package chunked

import (
	"fmt"
	"slices"
	"strings"
)

// maxPoints limits the points of a series. Each is a layer.
const maxPoints = 10000

// Point is what is shown of an array that has axes besides x, y, z and channels, such as time: one index on each of
// them.
type Point struct {
	Name  string // a path with a directory for each axis, such as t0002: the name of the axis, and four digits or more
	Index []int  // for the options; nil if there are no such axes
}

// Series returns the points of an array with options, in the order of the array. An array whose other axes have length
// 1 is one point without a name. Series fails where [New] does because of axes, and if there are more than 10,000
// points.
func (a *Array) Series(o Options) ([]Point, error) {
	if err := a.validate(); err != nil {
		return nil, err
	}
	shown, names, err := a.named(o)
	if err != nil {
		return nil, err
	}
	points := []Point{{}}
	for axis, n := range a.Shape {
		if n == 1 || slices.Contains(shown[:], axis) {
			continue
		}
		name := a.nameOf(axis, names)
		if n > maxPoints/len(points) {
			return nil, Unsupported{Part: fmt.Sprintf("axis %q", name), Expected: fmt.Sprintf("at most %d volumes",
				maxPoints), Found: fmt.Sprintf("length %d", n)}
		}
		points = spread(points, directoryOf(name, axis), axis, n, len(a.Shape))
	}
	return points, nil
}

// spread returns each point with each index on an axis.
func spread(points []Point, name string, axis, n, rank int) (all []Point) {
	for _, p := range points {
		for i := range n {
			index := make([]int, rank)
			copy(index, p.Index)
			index[axis] = i
			at := fmt.Sprintf("%s%04d", name, i)
			if p.Name != "" {
				at = p.Name + "/" + at
			}
			all = append(all, Point{at, index})
		}
	}
	return all
}

// directoryOf returns the name of an axis in paths: its short form in small letters, or axis0 if it has other
// characters.
func directoryOf(name string, axis int) string {
	short := strings.ToLower(axisName(name))
	other := func(r rune) bool { return r < 'a' || r > 'z' }
	if short == "" || len(short) > 20 || strings.ContainsFunc(short, other) {
		return fmt.Sprintf("axis%d_", axis)
	}
	return short
}

// indexOf returns the index on each axis that the options show, 0 on x, y, z and channels. Axes that they do not have
// are shown at 0.
func (a *Array) indexOf(o Options, shown [4]int) ([]int, error) {
	index := make([]int, len(a.Shape))
	for axis, n := range o.Index {
		if axis >= len(index) || n < 0 || n >= a.Shape[axis] {
			return nil, fmt.Errorf("index: expected one within %v, found %v", a.Shape, o.Index)
		}
		if !slices.Contains(shown[:], axis) {
			index[axis] = n
		}
	}
	return index, nil
}

// indexOfPoint returns the index of the point that the options name.
func (a *Array) indexOfPoint(o Options) ([]int, error) {
	points, err := a.Series(o)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(points, func(p Point) bool { return p.Name == o.Point })
	if i < 0 {
		return nil, fmt.Errorf("axes besides x, y, z and channels: expected %d volumes with %s, found others",
			len(points), o.Point)
	}
	return points[i].Index, nil
}

// NamesOf returns the names of points.
func NamesOf(points []Point) (names []string) {
	for _, p := range points {
		names = append(names, p.Name)
	}
	return names
}
