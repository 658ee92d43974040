package knossos

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// config is what a configuration says about a layer.
type config struct {
	file     string       // the configuration
	name     string       // of the layer; "" if it is the only one
	base     string       // of the cubes: the experiment
	dir      string       // of the folders of mags
	size     volume.Vec   // in voxels of mag 1
	cube     volume.Vec   // in voxels
	spacing  [][3]float64 // of voxels in nm: of mag 1, or of each mag
	ordinal  bool         // mags are numbered by spacing; else the number of a mag is its factor
	suffixes []string     // of the cubes; nil: those that are found
}

// usualCube is the size of cubes if a configuration does not have it.
const usualCube = 128

// maxConfig limits a configuration, in bytes. Real ones have less than a thousandth.
const maxConfig = 256 << 10

// configSuffixes are the ends of the names of configurations. A dataset is described by the first kind that it has.
var configSuffixes = []string{".k.toml", ".pyk.conf", ".k.conf", confFile}

// confFile is the name of a configuration that may also lie in the folder of a mag.
const confFile = "knossos.conf"

// IsConfig reports whether a file has the name of a configuration.
func IsConfig(name string) bool {
	name = path.Base(name)
	return !strings.HasPrefix(name, ".") && slices.ContainsFunc(configSuffixes,
		func(s string) bool { return strings.HasSuffix(name, s) })
}

// readConfig reads the layers of a configuration. The error of a layer that cannot be shown is in its place.
func readConfig(fsys fs.FS, file string) ([]config, []error, error) {
	b, err := jsonlimit.ReadFile(fsys, file, maxConfig)
	if err != nil {
		return nil, nil, err
	}
	if !utf8.Valid(b) {
		return nil, nil, &volume.FormatError{
			File: file, Part: "text", Offset: -1,
			Expected: "UTF-8", Found: "other bytes",
		}
	}
	dir := path.Dir(file)
	if path.Base(file) == confFile && magOf(path.Base(dir)) > 0 {
		dir = path.Dir(dir)
	}
	var layers []config
	var faults []error
	switch {
	case strings.HasSuffix(file, ".k.toml"):
		layers, faults, err = parseTOML(b)
	case strings.HasSuffix(file, ".pyk.conf"):
		layers, faults, err = one(parsePyk(string(b)))
	default:
		layers, faults, err = one(parseConf(string(b)))
	}
	if err != nil {
		return nil, nil, inFile(file, err)
	}
	for i := range layers {
		layers[i].file, layers[i].dir = file, path.Join(dir, layers[i].dir)
		if faults[i] == nil {
			faults[i] = layers[i].validate()
		}
		faults[i] = inFile(file, faults[i])
	}
	return layers, faults, nil
}

func one(c config, err error) ([]config, []error, error) { return []config{c}, []error{err}, nil }

// inFile returns an error about the content of a configuration.
func inFile(file string, err error) error {
	switch e := err.(type) {
	case nil:
		return nil
	case *volume.UnsupportedError:
		e.File = file
		return e
	case *volume.FormatError:
		e.File = file
		return e
	}
	return &volume.FormatError{File: file, Part: "configuration", Offset: -1, Err: err}
}

// fault returns the error for a field. The offset is unknown, because fields are found by their names.
func fault(field, expected string, found any) error {
	return &volume.FormatError{
		Part: field, Offset: -1,
		Expected: expected, Found: jsonlimit.Abbreviate(fmt.Sprint(found)),
	}
}

// validate checks what a configuration says, so that names stay in their folders. Package chunked checks the numbers
// of each mag.
func (c *config) validate() error {
	if c.base == "" || len(c.base) > 200 || strings.ContainsAny(c.base, "/\\\x00") {
		return fault("experiment name", "a name of up to 200 bytes without slashes", fmt.Sprintf("%q", c.base))
	}
	for axis, n := range c.size {
		if n < 1 || n > maxExtent {
			return fault("size of the dataset", "numbers from 1 to 2^40", c.size)
		}
		if c.cube[axis] < 1 || c.cube[axis] > maxCube {
			return fault("size of cubes", fmt.Sprintf("numbers from 1 to %d", maxCube), c.cube)
		}
	}
	if len(c.spacing) == 0 {
		return fault("voxel size", "three numbers", "none")
	}
	for _, s := range c.spacing {
		for _, n := range s {
			if !(n > 0 && n <= maxSpacing) {
				return fault("voxel size", "numbers above 0 nm, at most a kilometre", s)
			}
		}
	}
	return nil
}

const (
	maxExtent  = 1 << 40
	maxCube    = 1 << 20 // the bytes of a cube have a limit, too
	maxSpacing = 1e12
)

// vec returns three whole numbers that were parsed as floats.
func vec(numbers []float64) (v volume.Vec, err error) {
	if len(numbers) != 3 {
		return v, errors.New("expected three numbers")
	}
	for axis, n := range numbers {
		if n != math.Trunc(n) || math.Abs(n) > maxExtent {
			return v, errors.New("expected whole numbers up to 2^40")
		}
		v[axis] = int(n)
	}
	return v, nil
}

// magFolder matches the names of folders of mags.
var magFolder = regexp.MustCompile(`^(?:(.+)_)?mag([1-9][0-9]{0,8})$`)

// magOf returns the number of the mag whose folder has a name, or 0.
func magOf(name string) (n int) {
	if m := magFolder.FindStringSubmatch(name); m != nil {
		n, _ = volume.ParseIndex(m[2]) // nine digits
	}
	return n
}
