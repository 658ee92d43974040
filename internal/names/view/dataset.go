package view

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// datasetDir has the layers and the metadata files of a dataset.
type datasetDir struct {
	fsys *FS
	d    volume.Dataset
}

func (d datasetDir) stat() (fs.FileInfo, error) { return statDir(".", d.d.Stat) }

func (d datasetDir) list(yield func(entry, error) bool) {
	layers := seriesDir{d.fsys, d.d, ""}
	names, err := layers.names()
	if err != nil {
		yield(entry{}, err)
		return
	}
	files, err := fs.ReadDir(d.d.Files(), ".")
	for _, f := range files {
		if slices.Contains(names, f.Name()) {
			continue
		}
		if !yield(entry{f.Name(), d.file(f.Name(), f.IsDir())}, nil) {
			return
		}
	}
	taken := slices.Clone(names)
	for _, f := range files {
		taken = append(taken, f.Name())
	}
	if layers.yield(names, yield) && layers.yieldTimes(names, taken, yield) && err != nil {
		yield(entry{}, err)
	}
}

func (d datasetDir) child(name string) (node, error) {
	l, err := d.d.Layer(name)
	switch {
	case err == nil:
		return layerDir{d.fsys, name, l, d.d}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	switch info, err := fs.Stat(d.d.Files(), name); {
	case errors.Is(err, fs.ErrNotExist):
		return seriesDir{d.fsys, d.d, ""}.view(name)
	case err != nil:
		return nil, err
	default:
		return d.file(name, info.IsDir()), nil
	}
}

// file is a file of the source, or a directory of some. A directory in the place of the metadata is a file that cannot
// be read.
func (d datasetDir) file(name string, isDir bool) node {
	if isDir && name != tree.Properties {
		return filesDir{d.d.Files(), name}
	}
	return sourceFile{d.d.Files(), name}
}

// filesDir is a directory of files of the source that are shown as they are.
type filesDir struct {
	fsys fs.FS
	name string
}

func (d filesDir) stat() (fs.FileInfo, error) {
	return statDir(path.Base(d.name), func() (fs.FileInfo, error) { return fs.Stat(d.fsys, d.name) })
}

func (d filesDir) list(yield func(entry, error) bool) {
	for entries, err := range vfs.List(d.fsys, d.name) {
		for _, e := range entries {
			if !yield(entry{e.Name(), d.node(e.Name(), e.IsDir())}, nil) {
				return
			}
		}
		if err != nil {
			yield(entry{}, err)
			return
		}
	}
}

func (d filesDir) node(name string, isDir bool) node {
	if isDir {
		return filesDir{d.fsys, path.Join(d.name, name)}
	}
	return sourceFile{d.fsys, path.Join(d.name, name)}
}

func (d filesDir) child(name string) (node, error) {
	info, err := fs.Stat(d.fsys, path.Join(d.name, name))
	if err != nil {
		return nil, err
	}
	return d.node(name, info.IsDir()), nil
}

// seriesDir has the layers whose names start with a directory, such as those of the times of an image: NAME/t0000. The
// name of the dataset is "".
type seriesDir struct {
	fsys *FS
	d    volume.Dataset
	name string
}

// ifExists returns the directory if a layer is in it.
func (d seriesDir) ifExists() (node, error) {
	if t, ok := d.d.(volume.LayerTree); ok {
		_, err := t.StatLayers(d.name)
		return d, err
	}
	names, err := d.names()
	if err == nil && len(names) == 0 {
		err = fs.ErrNotExist // the caller adds the path
	}
	return d, err
}

func (d seriesDir) stat() (fs.FileInfo, error) {
	return statDir(d.name, func() (fs.FileInfo, error) {
		if t, ok := d.d.(volume.LayerTree); ok {
			return t.StatLayers(d.name)
		}
		return d.d.Stat()
	})
}

// names returns the names in the directory.
func (d seriesDir) names() ([]string, error) {
	if t, ok := d.d.(volume.LayerTree); ok {
		return t.ListLayers(d.name)
	}
	names, err := d.d.Layers()
	prefix := d.name + "/"
	if d.name == "" {
		prefix = ""
	}
	return firstOf(names, prefix), err
}

// view returns the times in the directory as an image, or the directory of layers of this name in it, or that of a mag
// at all times.
func (d seriesDir) view(name string) (node, error) {
	if t, err := d.times(name); !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	layers, err := seriesDir{d.fsys, d.d, path.Join(d.name, name)}.ifExists()
	if !errors.Is(err, fs.ErrNotExist) {
		return layers, err
	}
	return d.timesOfMag(name)
}

func (d seriesDir) list(yield func(entry, error) bool) {
	names, err := d.names()
	if d.yield(names, yield) && d.yieldTimes(names, names, yield) && err != nil {
		yield(entry{}, err)
	}
}

// yield yields the entries of names. Those of a tree are not opened: it lists what exists. It returns false if yield
// does.
func (d seriesDir) yield(names []string, yield func(entry, error) bool) bool {
	if _, ok := d.d.(volume.LayerTree); !ok {
		return yieldChildren(d, names, yield)
	}
	for _, name := range names {
		if !yield(entry{name, seriesDir{d.fsys, d.d, path.Join(d.name, name)}}, nil) {
			return false
		}
	}
	return true
}

func (d seriesDir) child(name string) (node, error) {
	full := path.Join(d.name, name)
	l, err := d.d.Layer(full)
	if errors.Is(err, fs.ErrNotExist) {
		return d.view(name)
	}
	if err != nil {
		return nil, err
	}
	return layerDir{d.fsys, full, l, d.d}, nil
}

// firstOf returns the entries of a directory of layers: the first component of each name after a prefix, once.
func firstOf(names []string, prefix string) (all []string) {
	listed := map[string]bool{}
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, prefix)
		first, _, _ := strings.Cut(rest, "/")
		if ok && first != "" && !listed[first] {
			listed[first] = true
			all = append(all, first)
		}
	}
	return all
}

// layerDir has the mags of a layer, and the layer in other formats.
type layerDir struct {
	fsys *FS
	name string // empty if it is the root
	l    volume.Layer
	in   volume.Dataset // nil if the layer is the root
}

// below returns the directories of layers in the layer. ok is false if there cannot be any.
func (d layerDir) below() (s seriesDir, ok bool) {
	_, ok = d.in.(volume.LayerTree)
	return seriesDir{d.fsys, d.in, d.name}, ok
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
	if !yieldChildren(d, names, yield) {
		return
	}
	if below, ok := d.below(); ok {
		names, err := below.names()
		if below.yield(names, yield) && err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(entry{}, err)
		}
	}
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
	if below, ok := d.below(); ok && errors.Is(err, fs.ErrNotExist) {
		return below.child(name)
	}
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
