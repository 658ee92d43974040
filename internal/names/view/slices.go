package view

import (
	"errors"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/names/tree"
)

// slicesDir has each xy plane of a mag as a TIFF file.
type slicesDir struct{ d magDir }

func (s slicesDir) stat() (fs.FileInfo, error) { return statDir(tree.Slices, s.d.m.Stat) }

func (s slicesDir) list(yield func(entry, error) bool) {
	snap, err := s.d.snapshot()
	if err != nil {
		yield(entry{}, err)
		return
	}
	bounds := snap.Bounds()
	if bounds.Size()[2] > s.d.fsys.limits.listed {
		return
	}
	if _, err := s.slice(snap, bounds.Min[2]).contents(snap); errors.Is(err, fs.ErrNotExist) {
		return // a TIFF cannot hold a plane of these voxels
	}
	for z := bounds.Min[2]; z < bounds.Max[2]; z++ {
		if f := s.slice(snap, z); !yield(entry{f.name, f}, nil) {
			return
		}
	}
}

func (s slicesDir) child(name string) (node, error) {
	z, ok := tree.ParseSlice(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	snap, err := s.d.snapshot()
	if err != nil {
		return nil, err
	}
	if z < snap.Bounds().Min[2] || z >= snap.Bounds().Max[2] {
		return nil, fs.ErrNotExist
	}
	f := s.slice(snap, z)
	f.name = name // may be an old one
	return f, nil
}

// slice returns the file of a plane. z is in absolute voxels of the mag.
func (s slicesDir) slice(snap *snapshot, z int) arrayFile {
	plane := snap.Bounds()
	plane.Min[2], plane.Max[2] = z, z+1
	return arrayFile{s.d, tree.SliceName(z), tree.TIFF, &plane}
}
