package importer

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
	// maxHeader bounds a header of text; NumPy itself stops at 10,000 bytes.
	maxHeader = 1 << 16
)

// npyDict is the dictionary that NumPy writes: three keys in any order.
var npyDict = regexp.MustCompile(`^\{\s*((?:'[a-z_]+':\s*(?:'[^']*'|True|False|\([0-9, ]*\))\s*,?\s*){3})\}\s*$`)
var npyPair = regexp.MustCompile(`'([a-z_]+)':\s*(?:'([^']*)'|(True|False)|\(([0-9, ]*)\))`)

// openNPY reads the header of a NumPy array file, formats 1.0 to 3.0. An array in C order
// has its axes reversed: (Z, Y, X), or (Z, Y, X, C), is what (X, Y, Z), or (C, X, Y, Z),
// is in Fortran order.
func (in *Input) openNPY(f *inputFile) error {
	text, at, err := npyText(f)
	if err != nil {
		return err
	}
	bad := func(field, expected, found string) error {
		return &FormatError{f.Name(), field, at - int64(len(text)), expected, found}
	}
	body := npyDict.FindStringSubmatch(text)
	if body == nil {
		return bad("header", "a dictionary of descr, fortran_order and shape", strconv.Quote(text))
	}
	values := map[string]string{}
	for _, pair := range npyPair.FindAllStringSubmatch(body[1], -1) {
		values[pair[1]] = pair[2] + pair[3] + pair[4]
	}
	if in.Grid.Type, in.bigEndian, err = npyType(values["descr"]); err != nil {
		return bad("descr", "numbers of 8 to 64 bits", strconv.Quote(values["descr"]))
	}
	axes, err := parseAxes(strings.FieldsFunc(values["shape"], func(r rune) bool { return r == ',' || r == ' ' }))
	if err != nil || len(axes) < 3 || len(axes) > 4 {
		return bad("shape", "3 axes, or 4 with channels", "("+values["shape"]+")")
	}
	switch values["fortran_order"] {
	case "True":
	case "False":
		slices.Reverse(axes)
	default:
		return bad("fortran_order", "True or False", strconv.Quote(values["fortran_order"]))
	}
	in.setAxes(axes)
	return in.setVoxels(f, at, true)
}

// npyText returns the dictionary and the offset of what follows it.
func npyText(f *inputFile) (string, int64, error) {
	start := make([]byte, 12)
	if n, err := f.ReadAt(start, 0); n < 10 {
		return "", 0, &FormatError{f.Name(), "header", 0, "at least 10 bytes", fmt.Sprintf("%d: %v", n, noEOF(err))}
	}
	at, length := int64(10), int64(binary.LittleEndian.Uint16(start[8:]))
	switch start[6] {
	case 1:
	case 2, 3:
		at, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	default:
		return "", 0, &FormatError{f.Name(), "version", 6, "1 to 3", fmt.Sprint(start[6])}
	}
	if length > maxHeader || length > f.size-at {
		return "", 0, &FormatError{f.Name(), "length of the header", 8, fmt.Sprintf("at most %d", min(maxHeader, f.size-at)), fmt.Sprint(length)}
	}
	text := make([]byte, length)
	if _, err := f.ReadAt(text, at); err != nil && err != io.EOF {
		return "", 0, err
	}
	return string(text), at + length, nil
}

// npyType reads numpy's type string.
func npyType(descr string) (t volume.Type, bigEndian bool, err error) {
	if descr == "" {
		return 0, false, fmt.Errorf("no type")
	}
	for _, t := range volume.Types() {
		if t.Descr()[1:] == descr[1:] && (strings.Contains("<>", descr[:1]) || descr[:1] == "|" && t.Size() == 1) {
			return t, descr[0] == '>', nil
		}
	}
	return 0, false, fmt.Errorf("type %q", descr)
}

// parseAxes reads extents, all at least 1.
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

// setAxes takes three extents, fastest first, or four that begin with the channels.
func (in *Input) setAxes(axes []int) {
	in.Grid.Channels = 1
	if len(axes) == 4 {
		in.Grid.Channels, axes = axes[0], axes[1:]
	}
	copy(in.Grid.Size[:], axes)
}
