package wkw

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/volume"
)

var (
	_ volume.Doubter = (*dataset)(nil)
	_ volume.Doubter = (*mag)(nil)
)

// Doubts tells what is wrong with the dataset's metadata file. There need not be one.
func (d *dataset) Doubts() []error {
	if _, err := ReadProperties(d.fsys, d.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []error{err}
	}
	return nil
}

// Doubts tells what is wrong with header.wkw, without which the cubes tell the geometry.
func (m *mag) Doubts() []error {
	if _, err := readHeader(m.fsys, path.Join(m.dir, headerFile)); err != nil {
		return []error{err}
	}
	return nil
}
