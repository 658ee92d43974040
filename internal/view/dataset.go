package view

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/omezarr"
	"github.com/wkwfs/wkwfs/internal/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// datasetDir has the layers and the metadata files of a dataset.
type datasetDir struct {
	fsys *FS
	d    volume.Dataset
}

func (d datasetDir) stat() (fs.FileInfo, error) { return statDir(".", d.d.Stat) }

func (d datasetDir) list(yield func(entry, error) bool) {
	names, err := d.d.Layers()
	if err != nil {
		yield(entry{}, err)
		return
	}
	files, err := fs.ReadDir(d.d.Files(), ".")
	for _, f := range files {
		if !yield(entry{f.Name(), sourceFile{d.d.Files(), f.Name()}}, nil) {
			return
		}
	}
	if yieldChildren(d, names, yield) && err != nil {
		yield(entry{}, err)
	}
}

func (d datasetDir) child(name string) (node, error) {
	l, err := d.d.Layer(name)
	switch {
	case err == nil:
		return layerDir{d.fsys, name, l}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	switch _, err := fs.Stat(d.d.Files(), name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist // the caller adds the path
	case err != nil:
		return nil, err
	}
	return sourceFile{d.d.Files(), name}, nil
}

// layerDir has the mags of a layer, and the layer in other formats.
type layerDir struct {
	fsys *FS
	name string // empty if it is the root
	l    volume.Layer
}

func (d layerDir) stat() (fs.FileInfo, error) { return statDir(d.name, d.l.Stat) }

func (d layerDir) list(yield func(entry, error) bool) {
	names, err := d.l.Mags()
	if err != nil {
		yield(entry{}, err)
		return
	}
	mags := names
	for _, v := range []levels{(precomputedDir{d}).scales(), (omeDir{l: d}).levels()} {
		if v.exist(mags) {
			names = append(names, v.names...)
		}
	}
	yieldChildren(d, names, yield)
}

func (d layerDir) child(name string) (node, error) {
	switch name {
	case tree.Precomputed:
		return precomputedDir{d}, nil
	case tree.OMEZarr:
		return omeDir{d, name, omezarr.V04}, nil
	case tree.OMEZarr3:
		return omeDir{d, name, omezarr.V05}, nil
	}
	m, err := d.l.Mag(name)
	if err != nil {
		return nil, err
	}
	return magDir{d.fsys, path.Join(d.name, name), m}, nil
}

// statDir describes a directory of the tree with the attributes of a directory of the source, which stat returns.
func statDir(name string, stat func() (fs.FileInfo, error)) (fs.FileInfo, error) {
	if name == "" {
		name = "."
	}
	source, err := stat()
	if err != nil {
		return nil, err
	}
	return dirInfo(name, source), nil
}
