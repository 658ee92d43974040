package view

import (
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/volume"
)

// magDir shows a mag: the whole volume in all formats, its slices and boxes, and
// the index of its cube files.
type magDir struct {
	t    *tree
	path string // of the layer and mag, as far as they have names here
	m    volume.Mag
}

func (d magDir) stat() (fs.FileInfo, error) { return statDir(path.Base(d.path), d.m.Stat) }

func (d magDir) list() ([]fs.DirEntry, error) {
	entries, err := d.listCubes()
	if err != nil {
		return nil, err
	}
	m, err := d.shown()
	if err != nil {
		d.t.Log.Warn("mag shown without its volume", "mag", d.path, "err", err)
		return entries, nil
	}
	for _, f := range d.files() {
		if _, err := f.shape(m); err == nil {
			entries = append(entries, entry{f.name, f})
		}
	}
	return append(entries, entry{slicesName, slicesDir{d}}, entry{boxName, boxDir{d}}), nil
}

// files are the formats that the whole volume is offered in, if they can hold it.
func (d magDir) files() []arrayFile {
	files := []arrayFile{d.file(jsonSuffix), d.file(rawSuffix)}
	for _, f := range header.Formats() {
		files = append(files, d.file(f.Suffix))
	}
	return files
}

func (d magDir) file(suffix string) arrayFile {
	return arrayFile{d: d, name: volumeStem + suffix, suffix: suffix}
}

func (d magDir) child(name string) (node, error) {
	switch name {
	case slicesName:
		return slicesDir{d}, nil
	case boxName:
		return boxDir{d}, nil
	}
	if suffix, ok := strings.CutPrefix(name, volumeStem); ok {
		return d.file(suffix), nil
	}
	if d.m.About().Chunks {
		if name == chunksName {
			return chunksDir{d}, nil
		}
		return nil, fs.ErrNotExist
	}
	return d.cubes().child(name)
}

// listCubes lists where the cube files are: on this level, or in a directory.
func (d magDir) listCubes() ([]fs.DirEntry, error) {
	if d.m.About().Chunks {
		return []fs.DirEntry{entry{chunksName, chunksDir{d}}}, nil
	}
	return d.cubes().list()
}

func (d magDir) cubes() cubesDir { return cubesDir{t: d.t, m: d.m} }

// shown returns the voxels of the mag as they were when they were last compared with the source.
func (d magDir) shown() (*shown, error) {
	return d.t.shelf.get(d.m, func(*shown) bool { return true })
}

// shownNow returns the voxels of the mag, those of the box as they are now; nil is all.
func (d magDir) shownNow(box *volume.Box) (*shown, error) {
	return d.t.shelf.get(d.m, func(m *shown) bool {
		if box == nil {
			return m.Current(m.Bounds())
		}
		return m.Current(*box)
	})
}
