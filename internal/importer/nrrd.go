package importer

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const nrrdMagic = "NRRD000"

// nrrdTypes are NRRD's names of the types: those of C and those with a size.
var nrrdTypes = map[string]volume.Type{
	"signed char": volume.Int8, "int8": volume.Int8, "int8_t": volume.Int8,
	"uchar": volume.Uint8, "unsigned char": volume.Uint8, "uint8": volume.Uint8, "uint8_t": volume.Uint8,
	"short": volume.Int16, "short int": volume.Int16, "signed short": volume.Int16, "signed short int": volume.Int16, "int16": volume.Int16, "int16_t": volume.Int16,
	"ushort": volume.Uint16, "unsigned short": volume.Uint16, "unsigned short int": volume.Uint16, "uint16": volume.Uint16, "uint16_t": volume.Uint16,
	"int": volume.Int32, "signed int": volume.Int32, "int32": volume.Int32, "int32_t": volume.Int32,
	"uint": volume.Uint32, "unsigned int": volume.Uint32, "uint32": volume.Uint32, "uint32_t": volume.Uint32,
	"longlong": volume.Int64, "long long": volume.Int64, "long long int": volume.Int64, "signed long long": volume.Int64, "signed long long int": volume.Int64, "int64": volume.Int64, "int64_t": volume.Int64,
	"ulonglong": volume.Uint64, "unsigned long long": volume.Uint64, "unsigned long long int": volume.Uint64, "uint64": volume.Uint64, "uint64_t": volume.Uint64,
	"float": volume.Float32, "double": volume.Float64,
}

// nanometres are the units of length that headers name.
var nanometres = map[string]float64{
	"nm": 1, "nanometer": 1, "um": 1e3, "µm": 1e3, "μm": 1e3, `\u00b5m`: 1e3, "micron": 1e3, "microns": 1e3, "micrometer": 1e3,
	"mm": 1e6, "millimeter": 1e6, "cm": 1e7, "m": 1e9,
}

// nrrdHeader is the fields of an NRRD header, and where each is.
type nrrdHeader struct {
	file   string
	fields map[string]string
	lines  map[string]int64 // offsets
	end    int64            // of the header, in bytes
}

func (h *nrrdHeader) bad(field, expected string) error {
	found := "none"
	if value, ok := h.fields[field]; ok {
		found = strconv.Quote(value)
	}
	return &FormatError{h.file, field, h.lines[field], expected, found}
}

// openNRRD reads the header of an NRRD file, with the voxels in it or in one raw file
// beside it.
func (in *Input) openNRRD(f *inputFile) error {
	h, err := readNRRD(f)
	if err != nil {
		return err
	}
	if err := in.describeNRRD(h); err != nil {
		return err
	}
	for _, field := range []string{"line skip", "byte skip"} {
		if value, ok := h.fields[field]; ok && value != "0" {
			return h.bad(field, "0")
		}
	}
	name, detached := h.fields["data file"]
	if !detached {
		return in.setVoxels(f, h.end, true)
	}
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, "LIST") || strings.ContainsAny(name, "% ") {
		return h.bad("data file", "the name of one file beside this one")
	}
	data, err := in.open(filepath.Join(filepath.Dir(f.Name()), name))
	if err != nil {
		return err
	}
	return in.setVoxels(data, 0, true)
}

// readNRRD reads lines up to the empty one.
func readNRRD(f *inputFile) (*nrrdHeader, error) {
	h := &nrrdHeader{file: f.Name(), fields: map[string]string{}, lines: map[string]int64{}}
	text := bufio.NewReader(io.NewSectionReader(f, 0, min(f.size, maxHeader)))
	for {
		line, err := text.ReadString('\n')
		at := h.end
		h.end += int64(len(line))
		trimmed := strings.TrimRight(line, "\r\n")
		switch {
		case err != nil && err != io.EOF:
			return nil, err
		case err == io.EOF && h.end == maxHeader:
			return nil, &FormatError{h.file, "header", at, fmt.Sprintf("at most %d bytes", maxHeader), "more"}
		case trimmed == "" && (line != "" || at == f.size):
			return h, nil // the end, which a detached header may leave out
		case at == 0 || trimmed[0] == '#' || strings.Contains(trimmed, ":="):
			continue
		}
		name, value, ok := strings.Cut(trimmed, ": ")
		name = nrrdField(name)
		if _, twice := h.fields[name]; !ok || twice {
			return nil, &FormatError{h.file, "header", at, "a field that is there once", strconv.Quote(trimmed)}
		}
		h.fields[name], h.lines[name] = strings.TrimSpace(value), at
	}
}

// nrrdField returns the one name of a field that has several.
func nrrdField(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "datafile":
		return "data file"
	case "lineskip":
		return "line skip"
	case "byteskip":
		return "byte skip"
	}
	return name
}

func (in *Input) describeNRRD(h *nrrdHeader) error {
	var ok bool
	if in.Grid.Type, ok = nrrdTypes[strings.ToLower(h.fields["type"])]; !ok {
		return h.bad("type", "numbers of 8 to 64 bits")
	}
	if h.fields["encoding"] != "raw" {
		return h.bad("encoding", `"raw"; teem's unu save -e raw expands others`)
	}
	if endian := h.fields["endian"]; in.Grid.Type.Size() > 1 {
		if in.bigEndian = endian == "big"; !in.bigEndian && endian != "little" {
			return h.bad("endian", "little or big")
		}
	}
	axes, err := parseAxes(strings.Fields(h.fields["sizes"]))
	if err != nil || h.fields["dimension"] != fmt.Sprint(len(axes)) || len(axes) < 3 || len(axes) > 4 {
		return h.bad("sizes", "3 axes, or 4 that begin with the channels, as many as the dimension says")
	}
	if err := checkKinds(h, len(axes)); err != nil {
		return err
	}
	in.setAxes(axes)
	return in.placeNRRD(h, len(axes) == 4)
}

// checkKinds makes sure that the axes are x, y, z, and of four the first the channels.
func checkKinds(h *nrrdHeader, axes int) error {
	value, ok := h.fields["kinds"]
	if !ok {
		return nil
	}
	kinds := strings.Fields(value)
	if len(kinds) != axes {
		return h.bad("kinds", fmt.Sprintf("%d of them", axes))
	}
	for _, kind := range kinds[axes-3:] {
		if kind != "domain" && kind != "space" && kind != "???" && kind != "none" {
			return h.bad("kinds", "three axes of space, after the channels if there are any")
		}
	}
	if first := kinds[0]; axes == 4 && (first == "domain" || first == "space" || first == "time") {
		return h.bad("kinds", "channels as the first axis of four")
	}
	return nil
}

// placeNRRD takes spacing and origin, if there is a unit that makes them lengths.
func (in *Input) placeNRRD(h *nrrdHeader, channels bool) error {
	words := strings.Fields(h.fields["space directions"])
	if channels && len(words) > 0 && words[0] == "none" {
		words = words[1:]
	}
	if len(words) != 3 {
		return in.spacingsNRRD(h, channels)
	}
	units := strings.Fields(h.fields["space units"])
	for axis, word := range words {
		direction, err := parseVector(word)
		if err != nil {
			return h.bad("space directions", "three vectors of three numbers")
		}
		for other, v := range direction {
			if other != axis && v != 0 || other == axis && v <= 0 {
				in.Misplaced = fmt.Errorf("%s: the axes are turned or mirrored: %w", h.file, ErrPlace)
				return nil
			}
		}
		in.Grid.Spacing[axis] = direction[axis]
		if len(units) == 3 {
			in.Grid.Spacing[axis] *= nanometres[strings.Trim(units[axis], `"`)]
		} else {
			in.Grid.Spacing[axis] = 0
		}
	}
	origin, err := parseVector(h.fields["space origin"])
	switch {
	case h.fields["space origin"] == "":
		return nil
	case err != nil:
		return h.bad("space origin", "a vector of three numbers")
	}
	var pitch [3]float64 // in the unit of the origin
	for axis, word := range words {
		direction, _ := parseVector(word)
		pitch[axis] = direction[axis]
	}
	in.place(h.file, origin, pitch)
	return nil
}

// spacingsNRRD takes the older form, which has no place.
func (in *Input) spacingsNRRD(h *nrrdHeader, channels bool) error {
	words := strings.Fields(h.fields["spacings"])
	units := strings.Fields(h.fields["units"])
	if channels && len(words) == 4 {
		words = words[1:]
	}
	if len(units) == 4 {
		units = units[1:]
	}
	if len(words) != 3 || len(units) != 3 {
		return nil
	}
	for axis, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return h.bad("spacings", "a number for each axis")
		}
		in.Grid.Spacing[axis] = usable(v * nanometres[strings.Trim(units[axis], `"`)])
	}
	return nil
}

// parseVector reads "(x,y,z)", all finite.
func parseVector(s string) (v [3]float64, err error) {
	inner, open := strings.CutPrefix(s, "(")
	inner, shut := strings.CutSuffix(inner, ")")
	words := strings.Split(inner, ",")
	if !open || !shut || len(words) != 3 {
		return v, fmt.Errorf("not a vector: %q", s)
	}
	for axis, word := range words {
		if v[axis], err = strconv.ParseFloat(strings.TrimSpace(word), 64); err != nil || math.IsNaN(v[axis]) || math.IsInf(v[axis], 0) {
			return v, fmt.Errorf("not a number: %q", word)
		}
	}
	return v, nil
}
