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
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool {
		switch name := e.Name(); {
		case e.IsDir() && tree.IsBlocks(path.Join(dir, name), entries):
			return !f.Blocks
		case mag && tree.IsDerived(name), f.isView(dir, name):
			return !f.All
		}
		return false
	})
}

// isView reports whether an entry of a directory is a layer in another format. A layer itself may have such a name, but has no files.
func (f Forms) isView(dir, name string) bool {
	file, ok := tree.ViewFile(name)
	if !ok {
		return false
	}
	_, err := fs.Stat(f.FS, path.Join(dir, name, file))
	return !errors.Is(err, fs.ErrNotExist)
}
