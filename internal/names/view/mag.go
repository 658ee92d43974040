package view

import (
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/volume"
)

// magDir has the whole volume in all formats, its slices and boxes, and the cube files of a mag.
type magDir struct {
	fsys *FS
	path string // of the mag in the tree; empty if it is the root
	m    volume.Mag
}

func (d magDir) stat() (fs.FileInfo, error) {
	stat := d.m.Stat
	if d.fsys.snapshots.shared {
		stat = func() (fs.FileInfo, error) { return mosaic.StatMag(d.m) }
	}
	i, err := statDir(path.Base(d.path), stat)
	return editedDir(d.m, i, err)
}

func (d magDir) list(yield func(entry, error) bool) {
	snap, err := d.snapshot()
	if err != nil {
		d.fsys.log.Warn("mag shown without its volume", "mag", d.path, "err", err)
	} else if !d.yieldVolumes(snap, yield) {
		return
	}
	if d.m.About().NamedByBox {
		yield(entry{tree.Chunks, chunksDir{d}}, nil)
		return
	}
	d.cubes().list(yield)
}

// yieldVolumes yields the entries that are made of all cubes. It returns false if yield does.
func (d magDir) yieldVolumes(snap *snapshot, yield func(entry, error) bool) bool {
	for _, f := range d.volumes() {
		if _, err := f.contents(snap); err == nil && !yield(entry{f.name, f.node()}, nil) {
			return false
		}
	}
	return yield(entry{tree.Slices, slicesDir{d}}, nil) && yield(entry{tree.Boxes, boxDir{d}}, nil)
}

// volumes returns the files of the whole volume in all formats. A format may be unable to describe the volume.
func (d magDir) volumes() []arrayFile {
	files := []arrayFile{d.volume(tree.JSON), d.volume(tree.Raw)}
	for _, f := range header.Formats() {
		files = append(files, d.volume(f.Suffix))
	}
	return files
}

func (d magDir) volume(suffix string) arrayFile {
	return arrayFile{d: d, name: tree.VolumeStem + suffix, suffix: suffix}
}

func (d magDir) child(name string) (node, error) {
	switch name {
	case tree.Slices:
		return slicesDir{d}, nil
	case tree.Boxes:
		return boxDir{d}, nil
	}
	if suffix, ok := strings.CutPrefix(name, tree.VolumeStem); ok {
		return d.volume(suffix).node(), nil
	}
	if d.m.About().NamedByBox {
		if name == tree.Chunks {
			return chunksDir{d}, nil
		}
		return nil, fs.ErrNotExist
	}
	return d.cubes().child(name)
}

func (d magDir) cubes() cubesDir { return cubesDir{fsys: d.fsys, m: d.m} }

// snapshot returns the last snapshot of the mag, without comparing it with the source.
func (d magDir) snapshot() (*snapshot, error) {
	return d.fsys.snapshots.get(d.m, d.path, func(*snapshot) bool { return true })
}

// currentSnapshot returns a snapshot in which the box, in absolute voxels of the mag, matches the source. Nil is the
// whole volume.
func (d magDir) currentSnapshot(box *volume.Box) (*snapshot, error) {
	return d.fsys.snapshots.get(d.m, d.path, func(s *snapshot) bool {
		if box == nil {
			return s.Current(s.Bounds())
		}
		return s.Current(*box)
	})
}
