package zarr

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/arrays/chunked"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// Limits of metadata. No real array or group reaches them.
const (
	maxRank   = chunked.MaxAxes
	maxCodecs = 32
)

type object = jsonlimit.Object

// readObject reads a JSON file with an object. The error of a file that is not there is fs.ErrNotExist.
func readObject(fsys fs.FS, dir, name string) (object, error) {
	return chunked.ReadObject(fsys, path.Join(dir, name))
}

// integers parses a list of integers that must be there.
func integers(o object, name string) ([]int, error) { return chunked.Integers(o, name) }

// text parses a member that must be a string.
func text(o object, name string) (string, error) {
	var s string
	if !o.Has(name) {
		return "", fmt.Errorf("%s: expected a text, found none", name)
	}
	err := o.Get(name, &s)
	return s, err
}

func broken(file, part, expected, found string) error {
	return &volume.FormatError{File: file, Part: part, Offset: -1, Expected: expected, Found: found}
}

// unsupported returns an error about a field that may be valid.
func unsupported(part, expected, found string) error {
	return chunked.Unsupported{Part: part, Expected: expected, Found: found}
}

// inFile returns an error about the content of a file as a FormatError, or an UnsupportedError.
func inFile(file string, err error) error { return chunked.InFile(file, err) }
