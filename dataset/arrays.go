package dataset

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/files/annotation"
	"github.com/wkwfs/wkwfs/n5"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/zarr"
)

// formats open the mags of a WEBKNOSSOS dataset that are arrays, by their data format.
var formats = map[string]webknossos.Opener{"zarr": openZarr, "zarr3": openZarr, "n5": openN5}

// points list the volumes of a mag that is an array with other axes than x, y, z and channels, by its data format.
var points = map[string]webknossos.PointLister{"zarr": pointsOf(zarr.ListPoints), "zarr3": pointsOf(zarr.ListPoints),
	"n5": pointsOf(n5.ListPoints)}

func pointsOf(list func(fs.FS, string, zarr.ArrayOptions) ([]string, error)) webknossos.PointLister {
	return func(fsys fs.FS, dir string, m webknossos.MagOptions) ([]string, error) {
		o, err := arrayOptions(m)
		if err != nil {
			return nil, err
		}
		return list(fsys, dir, o)
	}
}

// openZarr opens a mag of a WEBKNOSSOS dataset that is a Zarr array. The metadata of the array say which version it
// has.
func openZarr(fsys fs.FS, dir string, m webknossos.MagOptions) (volume.Mag, error) {
	o, err := arrayOptions(m)
	if err != nil {
		return nil, err
	}
	if m.Layer.Name == annotation.LayerName { // of a download that was unpacked
		return zarr.OpenAnnotation(fsys, dir, o)
	}
	return zarr.OpenArray(fsys, dir, o)
}

// openN5 opens a mag of a WEBKNOSSOS dataset that is an N5 array.
func openN5(fsys fs.FS, dir string, m webknossos.MagOptions) (volume.Mag, error) {
	o, err := arrayOptions(m)
	if err != nil {
		return nil, err
	}
	return n5.OpenArray(fsys, dir, o)
}

// arrayOptions returns what the metadata of a dataset say about an array. Index 0 of the array is the origin of the
// dataset.
func arrayOptions(m webknossos.MagOptions) (o zarr.ArrayOptions, err error) {
	if o.Axes, err = m.Axes(); err != nil {
		return o, err
	}
	o.UsualXYZ, o.Point = true, m.Point
	o.Channel, o.Channels = m.Channels()
	o.Bounds, o.Spacing, o.Factor = m.Bounds(), m.Spacing(), m.Factor
	o.Category, o.Window, o.StatMetadata = m.Layer.Category, m.Layer.Window(), m.StatMetadata
	return o, nil
}

// recogniseArrays opens a layer or a mag of a WEBKNOSSOS dataset that consists of arrays, or an array or group without
// a dataset. It returns false if there is none, or if the directory has metadata of WEBKNOSSOS: these win.
func recogniseArrays(fsys fs.FS, name string, o webknossos.Options) (root volume.Root, ok bool, err error) {
	info, err := fs.Stat(fsys, name)
	if err != nil || !info.IsDir() {
		return volume.Root{}, false, nil
	}
	// an array may have any name
	if info, err := fs.Lstat(fsys, path.Join(name, webknossos.PropertiesFile)); err == nil && !info.IsDir() {
		return volume.Root{}, false, nil
	}
	root, err = webknossos.RecogniseForeign(fsys, name, o)
	if !errors.Is(err, webknossos.ErrNotRecognised) {
		return root, true, err
	}
	if root, err = zarr.Recognise(fsys, name); !errors.Is(err, zarr.ErrNotRecognised) {
		return root, true, err
	}
	root, err = n5.Recognise(fsys, name)
	return root, !errors.Is(err, n5.ErrNotRecognised), err
}
