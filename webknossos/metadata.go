package webknossos

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/volume"
)

var (
	_ volume.MetadataChecker = (*dataset)(nil)
	_ volume.MetadataChecker = (*mag)(nil)
)

// CheckMetadata reads the metadata file of the dataset. It need not exist.
func (d *dataset) CheckMetadata() []error {
	if _, err := ReadProperties(d.fsys, d.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []error{err}
	}
	return nil
}

// CheckMetadata reads header.wkw. Without it, the geometry is that of a cube.
func (m *mag) CheckMetadata() []error {
	if _, err := readHeader(m.fsys, path.Join(m.dir, headerFile)); err != nil {
		return []error{err}
	}
	return nil
}
