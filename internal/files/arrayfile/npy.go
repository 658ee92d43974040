package arrayfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	npyMagic = "\x93NUMPY"
	// maxHeader is the greatest length of a text header in bytes. NumPy accepts 10,000 bytes.
	maxHeader = 1 << 16
)

// npyDict matches the dictionary that NumPy writes: three keys in any order.
var npyDict = regexp.MustCompile(`^\{\s*((?:'[a-z_]+':\s*(?:'[^']*'|True|False|\([0-9L, ]*\))\s*,?\s*){3})\}\s*$`)
var npyPair = regexp.MustCompile(`'([a-z_]+)':\s*(?:'([^']*)'|(True|False)|\(([0-9L, ]*)\))`)

var npyFormat = format{is: startsWith(npyMagic), open: openNPY}

// openNPY reads the header of a NumPy array file, formats 1.0 to 3.0. The axes of an array in Fortran order are (X, Y,
// Z) or (C, X, Y, Z). Those of an array in C order are assumed to be reversed: (Z, Y, X) or (Z, Y, X, C). Two axes are
// one plane.
func openNPY(a *Array, in input) error {
	f := in.file
	text, at, err := npyText(f)
	if err != nil {
		return err
	}
	bad := func(field, expected, found string) error {
		return invalid(f.Name(), field, at-int64(len(text)), expected, found)
	}
	body := npyDict.FindStringSubmatch(text)
	if body == nil {
		return bad("header", "a dictionary of descr, fortran_order and shape", strconv.Quote(text))
	}
	values := map[string]string{}
	for _, pair := range npyPair.FindAllStringSubmatch(body[1], -1) {
		values[pair[1]] = pair[2] + pair[3] + pair[4]
	}
	half, err := setDescr(a, values["descr"])
	if err != nil {
		return bad("descr", "numbers of 8 to 64 bits or bool", strconv.Quote(values["descr"]))
	}
	// Python 2 wrote long integers as 7L.
	axes, err := parseAxes(strings.FieldsFunc(values["shape"],
		func(r rune) bool { return r == ',' || r == ' ' || r == 'L' }))
	if err != nil || len(axes) < 2 || len(axes) > 4 {
		return bad("shape", "2 or 3 axes, or 4 with channels", "("+values["shape"]+")")
	}
	l := Layout{Shape: slices.Clone(axes)}
	switch values["fortran_order"] {
	case "True":
		l.Fortran, l.Axes = true, []string{"xy", "xyz", "cxyz"}[len(axes)-2]
	case "False":
		l.Assumed, l.Axes = true, []string{"yx", "zyx", "zyxc"}[len(axes)-2]
		slices.Reverse(axes)
	default:
		return bad("fortran_order", "True or False", strconv.Quote(values["fortran_order"]))
	}
	a.setAxes(axes, len(axes) == 4)
	a.Layout = l
	return a.setVoxels(section{file: f, offset: at, exact: true, half: half})
}

// setDescr sets the type of the values. half is true if they are float16, which become float32.
func setDescr(a *Array, descr string) (half bool, err error) {
	switch descr {
	case "|b1":
		a.Grid.Type = volume.Uint8
		a.Labels = Labels{Segmentation, "values of type bool"}
		return false, nil
	case "<f2", ">f2":
		a.Grid.Type, a.bigEndian = volume.Float32, descr[0] == '>'
		return true, nil
	}
	a.Grid.Type, a.bigEndian, err = volume.ParseDescr(descr)
	return false, err
}

// npyText returns the dictionary and the offset of its end.
func npyText(f *file) (string, int64, error) {
	start := make([]byte, 12)
	if n, err := f.ReadAt(start, 0); n < 10 {
		return "", 0, invalid(f.Name(), "header", 0, "at least 10 bytes", fmt.Sprintf("%d: %v", n, noEOF(err)))
	}
	at, length := int64(10), int64(binary.LittleEndian.Uint16(start[8:]))
	switch start[6] {
	case 1:
	case 2, 3:
		at, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return "", 0, invalid(f.Name(), "version", 6, "1 to 3", fmt.Sprint(start[6]))
	}
	if length > maxHeader || length > f.size-at {
		return "", 0, invalid(f.Name(), "length of the header", 8, fmt.Sprintf("at most %d", min(maxHeader, f.size-at)),
			fmt.Sprint(length))
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, at); err != nil && err != io.EOF {
		return "", 0, err
	}
	return string(text), at + length, nil
}

// parseAxes parses sizes of axes, in voxels. All must be at least 1.
func parseAxes(words []string) ([]int, error) {
	axes := make([]int, 0, len(words))
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q voxels on an axis", word)
		}
		axes = append(axes, n)
	}
	return axes, nil
}

// setAxes sets the size, and the number of channels if there are any. The fastest axis, that of the channels, is first.
// There are two or three axes in space.
func (a *Array) setAxes(axes []int, channels bool) {
	a.Grid.Channels = 1
	if channels {
		a.Grid.Channels, axes = axes[0], axes[1:]
	}
	a.Grid.Size = volume.Cube(1)
	copy(a.Grid.Size[:], axes)
}
