package tree

import (
	"fmt"
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

// IsBlocks reports whether a directory has the blocks of a cube: it has the name of one in a mag, or a cube is listed
// beside it. A layer or a mag may end in [Blocks], too.
func IsBlocks(dir string, beside []fs.DirEntry) bool {
	cube, ok := strings.CutSuffix(dir, Blocks)
	if !ok || has(beside, path.Base(cube)+Raw, false) {
		return ok
	}
	parts := strings.Split(cube, "/")
	ok, _ = path.Match(CubePattern, path.Join(parts[max(len(parts)-3, 0):]...)+Raw)
	return ok
}

// IsView reports whether an entry of a layer is the layer in another format.
func IsView(name string) bool {
	_, ok := ViewFile(name)
	return ok
}

// ViewFile returns the name of a file that a layer in another format has in its directory. ok is false if an entry of a
// layer is none.
func ViewFile(name string) (file string, ok bool) {
	switch name {
	case Precomputed:
		return Info, true
	case OMEZarr:
		return ".zattrs", true
	case OMEZarr3:
		return "zarr.json", true
	}
	return "", false
}

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
	case IsView(path.Base(dir)): // metadata of the view; no mag has its name
		return "", false
	case path.Base(parent) == Precomputed:
		return path.Join(path.Dir(parent), path.Base(dir)), true
	}
	return magOfChunk(name)
}

// magOfChunk is MagOf for chunks of OME-Zarr: LAYER/ome.zarr/MAG/z/y/x, or c/z/y/x. Those of times are t/c/z/y/x.
// Metadata have names that are no numbers.
func magOfChunk(name string) (mag string, ok bool) {
	if _, ok := volume.ParseIndex(path.Base(name)); !ok {
		return "", false
	}
	parts := strings.Split(name, "/")
	for i := len(parts) - 3; i >= 0; i-- { // from the end: a layer may have the name of a view
		if parts[i] == OMEZarr || parts[i] == OMEZarr3 {
			layer, chunk := path.Join(parts[:i]...), parts[i+2:]
			if parts[i] == OMEZarr3 {
				chunk = chunk[1:]
			}
			if len(chunk) == 5 {
				if t, ok := volume.ParseIndex(chunk[0]); ok {
					layer = path.Join(layer, fmt.Sprintf("t%04d", t))
				}
			}
			return path.Join(layer, parts[i+1]), true
		}
	}
	return "", false
}

// IsMag reports whether the entries are those of a mag.
func IsMag(entries []fs.DirEntry) bool {
	return has(entries, VolumeJSON, false) && has(entries, Slices, true)
}

func has(entries []fs.DirEntry, name string, dir bool) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && e.IsDir() == dir })
}
