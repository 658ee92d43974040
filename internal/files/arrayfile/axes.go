package arrayfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Layout is the shape of an array as numpy prints it, and which axes these are. The header of other formats than .npy,
// TIFF, PNG and JPEG says which axes it has: their Layout is zero.
type Layout struct {
	Shape   []int
	Fortran bool   // values along the first axis are next to each other in the file; else those along the last one
	Axes    string // a letter for each axis of Shape: x, y, z, or c for channels
	// Axes is only what most programs mean: an .npy in C order may as well be the copy of an array in Fortran order
	Assumed bool

	named    bool // Shape was given by the names of its axes
	channels int  // of each voxel, if they are no axis of Shape; else 0
}

// String returns the shape as numpy prints it, and the order of the values in the file.
func (l Layout) String() string {
	order := "C order"
	if l.Fortran {
		order = "Fortran order"
	}
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Shape), " ", ", "), "[]")
	return fmt.Sprintf("(%s) in %s", shape, order)
}

// Orders returns the axes that the shape may have, with Axes first.
func (l Layout) Orders() []string {
	var all []string
	switch {
	case l.named || l.Axes == "":
	case len(l.Shape) == 2:
		all = []string{"yx", "xy"}
	case len(l.Shape) == 3:
		all = []string{"zyx", "xyz"}
	default:
		all = []string{"zyxc", "cxyz", "czyx", "xyzc"}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == l.Axes })
	return append([]string{l.Axes}, all...)
}

// Size returns the size and the channels of an array whose shape has the axes.
func (l Layout) Size(axes string) (size volume.Vec, channels int, err error) {
	if err := l.check(axes); err != nil {
		return size, 0, err
	}
	size, channels = volume.Cube(1), max(l.channels, 1)
	for i, n := range l.Shape {
		if axis := strings.IndexByte("xyz", axes[i]); axis >= 0 {
			size[axis] = n
		} else {
			channels = n
		}
	}
	return size, channels, nil
}

// check fails if the shape cannot have the axes.
func (l Layout) check(axes string) error {
	bad := func(expected string) error {
		return fmt.Errorf("axes %q of the shape %v: expected %s, such as %s", axes, l, expected,
			strings.Join(l.Orders(), " or "))
	}
	if len(axes) != len(l.Shape) {
		return bad(fmt.Sprintf("%d letters", len(l.Shape)))
	}
	letters := "xyz"
	if l.channels == 0 {
		letters = "xyzc"
	}
	for i := range axes {
		if strings.IndexByte(letters, axes[i]) < 0 || strings.Count(axes, axes[i:i+1]) > 1 {
			return bad("each of the letters " + strings.Join(strings.Split(letters, ""), ", ") + " at most once")
		}
	}
	if c := strings.IndexByte(axes, 'c'); c > 0 && c < len(axes)-1 {
		return bad("c as the first or the last letter")
	}
	return nil
}

// natural is what an array has in the order of its file, in which x is the fastest axis in space.
type natural struct {
	voxels  voxels
	spacing [3]float64
	origin  volume.Vec
}

// SetAxes says which axes the shape of the Layout has. It fails if the header of the format says that, or if the shape
// cannot have them. No other goroutine may use the array at that time.
func (a *Array) SetAxes(axes string) error {
	l := a.Layout
	if l.Axes == "" {
		return fmt.Errorf("%s: axes %q: the header says which axes are x, y and z", a.Name(), axes)
	}
	g := a.Grid
	var err error
	if g.Size, g.Channels, err = l.Size(axes); err == nil {
		err = g.Validate()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", a.Name(), err)
	}
	if a.natural == nil {
		a.natural = &natural{a.voxels, g.Spacing, g.Origin}
	}
	a.Grid, a.Layout.Axes = g, axes
	a.arrangeAxes(l.fastestFirst(axes))
	return nil
}

// arrangeAxes sets voxels, spacing and position of an array whose axes are given in the order of the file, fastest
// first.
func (a *Array) arrangeAxes(axes string) {
	order := turn(strings.ReplaceAll(axes, "c", ""))
	v := a.natural.voxels
	if f, ok := v.(flat); ok {
		for i, axis := range order {
			f.size[i] = a.Grid.Size[axis]
		}
		f.channels = a.Grid.Channels
		if v = f; axes[len(axes)-1] == 'c' {
			f.channels = 1
			v = apart{f, a.Grid.Channels, a.Grid.Type.Size()}
		}
	}
	if order != [3]int{0, 1, 2} {
		v = turned{v, order, a.Grid.VoxelBytes(), usual.piece}
	}
	a.voxels = v
	for i, axis := range order {
		a.Grid.Spacing[axis], a.Grid.Origin[axis] = a.natural.spacing[i], a.natural.origin[i]
	}
}

// fastestFirst returns the letters of axes in the order of the file.
func (l Layout) fastestFirst(axes string) string {
	letters := []byte(axes)
	if !l.Fortran {
		slices.Reverse(letters)
	}
	return string(letters)
}

// turn returns the axes of space that the letters name. Axes without a letter follow.
func turn(letters string) (order [3]int) {
	for _, letter := range "xyz" {
		if !strings.ContainsRune(letters, letter) {
			letters += string(letter)
		}
	}
	for i := range order {
		order[i] = strings.IndexByte("xyz", letters[i])
	}
	return order
}
