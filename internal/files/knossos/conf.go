package knossos

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// confLine matches a line of a knossos.conf: a key, and a value that may be quoted. Keys have several words.
var confLine = regexp.MustCompile(`^\s*([a-z_]+(?: [a-z]+)*)\s*(?:"([^"]*)"|([0-9.eE+-]+))?\s*;`)

// magEnd is what programs append to the name of an experiment in the folder of a mag.
var magEnd = regexp.MustCompile(`_mag[0-9]+$`)

// parseConf parses a knossos.conf. Lines that it does not know are left out, as KNOSSOS does.
func parseConf(text string) (c config, err error) {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if m := confLine.FindStringSubmatch(line); m != nil {
			values[m[1]] = m[2] + m[3]
		}
	}
	c.base = magEnd.ReplaceAllString(values["experiment name"], "")
	c.cube = volume.Cube(usualCube)
	c.spacing = make([][3]float64, 1)
	for axis, name := range []string{"x", "y", "z"} {
		text, ok := values["boundary "+name]
		if !ok {
			return c, fault("boundary "+name, "the size of the dataset in voxels", "none")
		}
		if c.size[axis], ok = volume.ParseIndex(text); !ok {
			return c, fault("boundary "+name, "a whole number", text)
		}
		if c.spacing[0][axis], err = strconv.ParseFloat(values["scale "+name], 64); err != nil {
			return c, fault("scale "+name, "the size of a voxel in nm", values["scale "+name])
		}
	}
	if n, ok := values["cube_edge_length"]; ok {
		edge, _ := volume.ParseIndex(n) // 0 is refused
		c.cube = volume.Cube(edge)
	}
	return c, nil
}

// parsePyk parses the section Dataset of a .pyk.conf.
func parsePyk(text string) (c config, err error) {
	values := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if key, value, ok := strings.Cut(line, "="); ok && strings.EqualFold(section, "[Dataset]") {
			values[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	c.base = values["_basename"]
	c.ordinal = !strings.EqualFold(values["_serverformat"], "knossos")
	if c.size, err = vecOf(values, "_Extent"); err != nil {
		return c, err
	}
	c.cube = volume.Cube(usualCube)
	if values["_cubesize"] != "" {
		if c.cube, err = vecOf(values, "_CubeSize"); err != nil {
			return c, err
		}
	}
	scale, err := numbersOf(values["_datascale"])
	if err != nil || len(scale) == 0 || len(scale)%3 != 0 {
		return c, fault("_DataScale", "three numbers for each mag", values["_datascale"])
	}
	for ; len(scale) > 0; scale = scale[3:] {
		c.spacing = append(c.spacing, [3]float64(scale))
	}
	switch suffix, kind := values["_baseext"], values["_filetype"]; {
	case suffix != "":
		c.suffixes = []string{suffix}
	case kind != "":
		c.suffixes = map[string][]string{"0": {".raw"}, "2": {".png"}, "3": {".jpg"}}[kind]
		if c.suffixes == nil {
			return c, &volume.UnsupportedError{
				Part: "_FileType", Offset: -1,
				Expected: "0, 2 or 3: raw, PNG or JPEG", Found: kind,
			}
		}
	}
	return c, nil
}

// vecOf returns three whole numbers of an INI file.
func vecOf(values map[string]string, key string) (volume.Vec, error) {
	text := values[strings.ToLower(key)]
	numbers, err := numbersOf(text)
	if err != nil {
		return volume.Vec{}, fault(key, "three numbers", text)
	}
	v, err := vec(numbers)
	if err != nil {
		return v, fault(key, "three whole numbers", text)
	}
	return v, nil
}

// numbersOf parses a list with commas. It may end with one.
func numbersOf(text string) (numbers []float64, err error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ",")
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
