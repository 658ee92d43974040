package knossos

import (
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// tree has the names of the cubes of a mag and a kind. Axes are x, y, z.
type tree struct {
	base   string
	mag    int
	suffix string
}

// digits is the number of digits that the number of a cube has at least.
const digits = 4

// Dir returns the name of the folder of a number on an axis.
func (t tree) Dir(axis, n int) string { return fmt.Sprintf("%c%0*d", "xyz"[axis], digits, n) }

// Index parses the name of such a folder.
func (t tree) Index(axis int, name string) (int, bool) {
	text, ok := strings.CutPrefix(name, "xyz"[axis:axis+1])
	if !ok || len(text) < digits {
		return 0, false
	}
	n, ok := volume.ParseIndex(strings.TrimLeft(text[:digits-1], "0") + text[digits-1:])
	return n, ok && t.Dir(axis, n) == name
}

// File returns the name of a cube.
func (t tree) File(at []int) string { return t.stem(at) + t.suffix }

// Kind says what another file in the folder of a cube is: it may be the cube of another layer.
func (t tree) Kind(at []int, name string) volume.CubeName {
	suffix, ok := strings.CutPrefix(name, t.stem(at))
	other, known := kindOf(suffix)
	if own, _ := kindOf(t.suffix); ok && known && other.category != own.category {
		return volume.BesideName
	}
	return volume.OtherName
}

// stem returns the name of a cube without its suffix.
func (t tree) stem(at []int) string {
	return fmt.Sprintf("%s_mag%d_%s_%s_%s", t.base, t.mag, t.Dir(0, at[0]), t.Dir(1, at[1]), t.Dir(2, at[2]))
}
