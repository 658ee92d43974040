package dataset

import (
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/stores/zipfs"
	"github.com/wkwfs/wkwfs/n5"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/zarr"
)

// isArchive reports whether a file has the name of a zipped Zarr array or group.
func isArchive(name string) bool {
	return slices.Contains([]string{".zip", ".ozx"}, strings.ToLower(path.Ext(name)))
}

// recogniseArchive opens what is in an archive: a volume annotation, or an array or a group of Zarr or N5, at its top or in its only directory. The archive
// stays open until the dataset is closed.
func (d *directories) recogniseArchive(fsys fs.FS, name string, log *slog.Logger) (root volume.Root, err error) {
	if root, ok, err := d.recogniseAnnotation(fsys, name, log); ok {
		return root, err
	}
	a, err := zipfs.Open(fsys, name)
	if err != nil {
		return root, err
	}
	for _, dir := range a.Roots() {
		if root, err = zarr.Recognise(a, dir); !errors.Is(err, zarr.ErrNotRecognised) {
			break
		}
		if root, err = n5.Recognise(a, dir); !errors.Is(err, n5.ErrNotRecognised) {
			break
		}
		err = zarr.ErrNotRecognised
	}
	d.onClose(a.Close)
	return root, err
}
