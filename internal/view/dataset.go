package view

import (
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/volume"
)

// datasetDir shows the layers and the metadata files of a dataset.
type datasetDir struct {
	t *tree
	d volume.Dataset
}

func (d datasetDir) stat() (fs.FileInfo, error) { return statDir(".", d.d.Stat) }

func (d datasetDir) list() ([]fs.DirEntry, error) {
	names, err := d.d.Layers()
	if err != nil {
		return nil, err
	}
	entries, err := listAs(d, names, nil)
	if err != nil {
		return nil, err
	}
	files, err := fs.ReadDir(d.d.Files(), ".")
	for _, f := range files {
		entries = append(entries, entry{f.Name(), passedFile{d.d.Files(), f.Name()}})
	}
	return entries, err
}

func (d datasetDir) child(name string) (node, error) {
	if l, err := d.d.Layer(name); err == nil {
		return layerDir{d.t, name, l}, nil
	}
	if _, err := fs.Stat(d.d.Files(), name); err != nil {
		return nil, err
	}
	return passedFile{d.d.Files(), name}, nil
}

// layerDir shows the mags of a layer.
type layerDir struct {
	t    *tree
	name string // empty where it is the root
	l    volume.Layer
}

func (d layerDir) stat() (fs.FileInfo, error) { return statDir(d.name, d.l.Stat) }

func (d layerDir) list() ([]fs.DirEntry, error) {
	names, err := d.l.Mags()
	if err != nil {
		return nil, err
	}
	precomputed := precomputedDir{d}
	if scales, _, err := precomputed.scales(); err == nil && len(scales) > 0 {
		names = append(names, precomputedName)
	}
	return listAs(d, names, nil)
}

func (d layerDir) child(name string) (node, error) {
	if name == precomputedName {
		return precomputedDir{d}, nil
	}
	m, err := d.l.Mag(name)
	if err != nil {
		return nil, err
	}
	return magDir{d.t, path.Join(d.name, name), m}, nil
}

// statDir describes a directory of the tree that is one in the source.
func statDir(name string, stat func() (fs.FileInfo, error)) (fs.FileInfo, error) {
	if name == "" {
		name = "."
	}
	base, err := stat()
	if err != nil {
		return nil, err
	}
	return dirInfo(name, base), nil
}

// passedFile is a file of the source that is shown as it is.
type passedFile struct {
	fsys fs.FS
	name string
}

func (f passedFile) stat() (fs.FileInfo, error) {
	base, err := fs.Stat(f.fsys, f.name)
	if err != nil {
		return nil, err
	}
	return fileInfo(f.name, base.Size(), base), nil
}

func (f passedFile) open() (fs.File, error) {
	opened, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	base, err := opened.Stat()
	if err != nil {
		opened.Close()
		return nil, err
	}
	return &passed{opened, fileInfo(f.name, base.Size(), base)}, nil
}
