package copier

import (
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/internal/tree"
)

// Forms says in which forms the voxels of a directory are copied. Cubes are always copied.
type Forms struct {
	All    bool // with the volumes and slices of a mag, and the layer in other formats
	Blocks bool // with the blocks of each cube
}

// Select implements [Options].Select.
func (f Forms) Select(_ string, entries []fs.DirEntry) []fs.DirEntry {
	mag, layer := tree.IsMag(entries), tree.IsLayer(entries)
	return slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool {
		switch name := e.Name(); {
		case e.IsDir() && path.Ext(name) == tree.Blocks:
			return !f.Blocks
		case mag && tree.IsDerived(name), layer && tree.IsView(name):
			return !f.All
		}
		return false
	})
}
