package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/small/paths"
	"github.com/wkwfs/wkwfs/internal/stores/zipfs"
	"github.com/wkwfs/wkwfs/n5"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/zarr"
)

// unpacked says how files of archives are read that are compressed: each as a whole, when it is opened. Chunks fit into
// memory. Shards and archives are unpacked on a disk. A dataset has many chunks in flight at a time.
var unpacked = zipfs.Whole{Memory: 2 << 20, Disk: 4 << 30, InPlace: true}

// maxNested limits archives in archives.
const maxNested = 8

// recogniseArchive opens what is in an archive: a volume annotation, or an array or a group of Zarr or N5, at its top
// or in its only directory. The archives stay open until the dataset is closed. If the source names something in the
// archive, that is opened.
func (d *directories) recogniseArchive(fsys fs.FS, name string, log *slog.Logger) (root volume.Root, err error) {
	if len(d.inside) > maxNested {
		return root, fmt.Errorf("%s: expected at most %d archives in archives", name, maxNested)
	}
	for _, in := range d.inside {
		if !fs.ValidPath(in) || in == "." {
			return root, fmt.Errorf("%s!%s: expected a path in the archive", name, jsonlimit.Abbreviate(in))
		}
		if !paths.IsArchive(name) {
			return root, fmt.Errorf("%s!%s: expected an archive .zip or .ozx before ! in the path", name,
				jsonlimit.Abbreviate(in))
		}
		a, err := d.openArchive(fsys, name)
		if err != nil {
			return root, err
		}
		fsys, name = a, in
	}
	if len(d.inside) > 0 && !paths.IsArchive(name) {
		return recogniseIn(fsys, name)
	}
	if root, ok, err := d.recogniseAnnotation(fsys, name, false, log); ok || err != nil {
		return root, err
	}
	a, err := d.openArchive(fsys, name)
	if err != nil {
		return root, err
	}
	if root, err = recogniseIn(a, a.Roots()...); !errors.Is(err, zarr.ErrNotRecognised) {
		return root, err
	}
	if root, ok, err := d.recogniseAnnotation(fsys, name, true, log); ok {
		return root, err
	}
	return root, nestedIn(a, name, err)
}

// openArchive opens an archive until the dataset is closed.
func (d *directories) openArchive(fsys fs.FS, name string) (*zipfs.FS, error) {
	a, err := zipfs.OpenWhole(fsys, name, unpacked)
	if err == nil {
		d.onClose(a.Close)
	}
	return a, err
}

// recogniseIn opens the first of the directories that has an array or a group.
func recogniseIn(fsys fs.FS, dirs ...string) (root volume.Root, err error) {
	for _, dir := range dirs {
		if root, err = zarr.Recognise(fsys, dir); !errors.Is(err, zarr.ErrNotRecognised) {
			return root, err
		}
		if root, err = n5.Recognise(fsys, dir); !errors.Is(err, n5.ErrNotRecognised) {
			return root, err
		}
	}
	return root, zarr.ErrNotRecognised
}

// nestedIn adds a hint about the archives in an archive, if there are any.
func nestedIn(a *zipfs.FS, name string, err error) error {
	var found []string
	for file := range a.Files {
		if paths.IsArchive(file) {
			found = append(found, hint.Quote(name+"!"+file))
		}
		if len(found) == maxNested {
			break
		}
	}
	if found == nil {
		return err
	}
	return hint.Errorf("name an archive in it: "+hint.List(found), "%w", err)
}
