package copier

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/names/tree"
)

// Forms says in which forms the voxels of a directory are copied. Cubes are always copied.
type Forms struct {
	FS     fs.FS // the tree
	All    bool  // with the volumes and slices of a mag, and the layer in other formats
	Blocks bool  // with the blocks of each cube
}

// Select implements [Options].Select.
func (f Forms) Select(dir string, entries []fs.DirEntry) []fs.DirEntry {
	mag := tree.IsMag(entries)
	times := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return tree.IsPoint(e.Name()) })
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool {
		switch name := e.Name(); {
		case e.IsDir() && tree.IsBlocks(path.Join(dir, name), entries):
			return !f.Blocks
		case mag && tree.IsDerived(name), f.isView(dir, name), times && e.IsDir() && f.isTimes(dir, name):
			return !f.All
		}
		return false
	})
}

// isView reports whether an entry of a directory is a layer in another format. A layer itself may have such a name, but
// has no files.
func (f Forms) isView(dir, name string) bool {
	file, ok := tree.ViewFile(name)
	if !ok {
		return false
	}
	return f.exists(dir, name, file)
}

// isTimes reports whether an entry beside times is a mag at all times.
func (f Forms) isTimes(dir, name string) bool {
	return !tree.IsPoint(name) && f.exists(dir, name, tree.VolumeJSON) && !f.exists(dir, name, tree.Slices)
}

func (f Forms) exists(parts ...string) bool {
	_, err := fs.Stat(f.FS, path.Join(parts...))
	return !errors.Is(err, fs.ErrNotExist)
}
