package tree

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// IsVolume reports whether a file of a mag stands for the whole volume: volume.json, volume.raw and
// the same with a header.
func IsVolume(name string) bool { return strings.HasPrefix(name, VolumeStem+".") }

// IsDerived reports whether an entry of a mag has voxels that the cubes or chunks of the mag have too.
func IsDerived(name string) bool {
	return name == Slices || name == Boxes || IsVolume(name) && name != VolumeJSON
}

// IsView reports whether an entry of a layer is the layer in another format.
func IsView(name string) bool { return name == Precomputed || name == OMEZarr || name == OMEZarr3 }

// MagOf returns the path of the mag that a file is made of as a whole: volume files, slices, boxes and
// chunks of the views of a layer. ok is false for files that are made of one stored file, and for metadata.
func MagOf(name string) (mag string, ok bool) {
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	parent := path.Dir(dir)
	switch {
	case IsVolume(base):
		return dir, true
	case path.Base(dir) == Slices, path.Base(dir) == Boxes:
		return parent, true
	case path.Base(parent) == Precomputed:
		return path.Join(path.Dir(parent), path.Base(dir)), true
	}
	return magOfChunk(name)
}

// magOfChunk is MagOf for chunks of OME-Zarr: LAYER/ome.zarr/MAG/z/y/x. Metadata have names that are no numbers.
func magOfChunk(name string) (mag string, ok bool) {
	if _, ok := volume.ParseIndex(path.Base(name)); !ok {
		return "", false
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if (part == OMEZarr || part == OMEZarr3) && i+2 < len(parts) {
			return path.Join(path.Join(parts[:i]...), parts[i+1]), true
		}
	}
	return "", false
}

// IsMag reports whether the entries are those of a mag.
func IsMag(entries []fs.DirEntry) bool {
	return has(entries, VolumeJSON, false) && has(entries, Slices, true)
}

// IsLayer reports whether the entries are those of a layer: only mags and views.
func IsLayer(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.IsDir() || !IsView(e.Name()) && (e.Name()[0] < '0' || e.Name()[0] > '9')
	})
}

func has(entries []fs.DirEntry, name string, dir bool) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && e.IsDir() == dir })
}
