package chunked

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// maxMetadata limits a metadata file, in bytes. No real array or group reaches it.
const maxMetadata = 16 << 20

// ReadObject reads a metadata file with a JSON object. The error of a file that is not there is fs.ErrNotExist.
func ReadObject(fsys fs.FS, file string) (jsonlimit.Object, error) {
	info, err := fs.Stat(fsys, file)
	if err == nil {
		err = vfs.CheckKind(file, info, 0)
	}
	if err != nil {
		return nil, vfs.CheckAbsent(fsys, path.Dir(file), file, err)
	}
	b, err := jsonlimit.ReadFile(fsys, file, maxMetadata)
	if err != nil {
		return nil, err
	}
	var o jsonlimit.Object
	if err = json.Unmarshal(b, &o); err == nil && o == nil {
		err = errors.New("expected an object, found null")
	}
	if err != nil {
		return nil, &volume.FormatError{File: file, Part: "JSON", Offset: -1, Err: err}
	}
	return o, nil
}

// StatFiles returns a function that describes metadata files, as far as they exist, and those that others describes.
// others may be nil.
func StatFiles(others func() []fs.FileInfo, fsys fs.FS, names ...string) func() []fs.FileInfo {
	return func() (found []fs.FileInfo) {
		if others != nil {
			found = others()
		}
		for _, name := range names {
			if info, err := fs.Stat(fsys, name); err == nil {
				found = append(found, info)
			}
		}
		return found
	}
}

// Integers parses a list of up to MaxAxes integers that must be there.
func Integers(o jsonlimit.Object, name string) ([]int, error) {
	if !o.Has(name) {
		return nil, fmt.Errorf("%s: expected a list of numbers, found none", name)
	}
	list, err := jsonlimit.List[jsonlimit.Integer](o[name], MaxAxes, "numbers")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all := make([]int, len(list))
	for i, n := range list {
		all[i] = int(n)
	}
	return all, nil
}

// Unsupported is an error about a field of metadata, which may be valid. [InFile] adds the file.
type Unsupported struct{ Part, Expected, Found string }

// Error names the field, and what was expected and found.
func (u Unsupported) Error() string {
	return fmt.Sprintf("unsupported %s: expected %s, found %s", u.Part, u.Expected, u.Found)
}

// InFile returns an error about the content of a metadata file: a [volume.UnsupportedError] for an [Unsupported], else
// a [volume.FormatError]. It returns nil for nil.
func InFile(file string, err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[Unsupported](err); ok {
		return &volume.UnsupportedError{File: file, Part: u.Part, Offset: -1, Expected: u.Expected, Found: u.Found}
	}
	return &volume.FormatError{File: file, Part: "metadata", Offset: -1, Err: err}
}
