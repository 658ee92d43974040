package annotation

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/zarr"
)

// LayerName is the name of the layer in the metadata of a volume that is Zarr.
const LayerName = "volumeAnnotationData"

// errNoData is the error for a directory without blocks or their metadata.
var errNoData = errors.New("no blocks")

// openData opens the blocks in a directory. The size of a voxel is that of the NML file, if it is known.
func openData(fsys fs.FS, dir string, spacing [3]float64) (volume.Layer, error) {
	if _, err := fs.Stat(fsys, path.Join(dir, webknossos.PropertiesFile)); err == nil {
		return openZarr(fsys, dir, spacing)
	}
	parent := webknossos.Parent{
		Properties: &webknossos.Properties{Scale: spacing,
			Layers: []webknossos.LayerProperties{{Name: "volume", Category: "segmentation"}}},
		Layer: "volume",
	}
	root, err := webknossos.Recognise(fsys, dir,
		webknossos.Options{Parent: func(int) webknossos.Parent { return parent }})
	switch {
	case errors.Is(err, webknossos.ErrNotRecognised), err == nil && root.Layer == nil:
		return noMags{statDir{fsys, dir}}, errNoData
	case err != nil:
		return nil, err
	}
	return root.Layer, nil
}

// openZarr opens the only layer of a dataset of Zarr arrays.
func openZarr(fsys fs.FS, dir string, spacing [3]float64) (volume.Layer, error) {
	open := func(fsys fs.FS, dir string, m webknossos.MagOptions) (volume.Mag, error) {
		axes, err := m.Axes()
		if err != nil {
			return nil, err
		}
		if spacing != ([3]float64{}) {
			m.Scale = spacing
		}
		o := zarr.ArrayOptions{
			Axes: axes, UsualXYZ: true, Bounds: m.Bounds(), Spacing: m.Spacing(), Factor: m.Factor,
			Category: "segmentation", StatMetadata: m.StatMetadata,
		}
		return zarr.OpenAnnotation(fsys, dir, o)
	}
	root, err := webknossos.Recognise(fsys, dir,
		webknossos.Options{Formats: map[string]webknossos.Opener{"zarr3": open}})
	if err != nil {
		return nil, err
	}
	names, err := root.Dataset.Layers()
	if err != nil {
		return nil, err
	}
	if len(names) != 1 {
		if o, ok := root.Dataset.(volume.Omitter); ok && len(names) == 0 {
			for _, omitted := range o.Omitted() {
				return nil, fmt.Errorf("%s: layer %s: %s", dir, omitted.Name, omitted.Reason)
			}
		}
		return nil, &volume.FormatError{
			File: path.Join(dir, webknossos.PropertiesFile), Part: "dataLayers", Offset: -1, Expected: "one layer",
			Found: fmt.Sprint(len(names)),
		}
	}
	return root.Dataset.Layer(names[0])
}

// statDir is a directory.
type statDir struct {
	fsys fs.FS
	dir  string
}

func (s statDir) Stat(string) (fs.FileInfo, error) { return fs.Stat(s.fsys, s.dir) }

// noMags is a layer in which nothing was painted.
type noMags struct {
	of interface {
		Stat(name string) (fs.FileInfo, error)
	}
}

func (l noMags) Stat() (fs.FileInfo, error) { return l.of.Stat(".") }
func (l noMags) Mags() ([]string, error)    { return nil, nil }
func (l noMags) Mag(name string) (volume.Mag, error) {
	return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
}
