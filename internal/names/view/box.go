package view

import (
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
)

// boxDir has any box of a mag, in every format that is one file. It lists none of them.
type boxDir struct{ d magDir }

func (b boxDir) list(func(entry, error) bool) {}

func (b boxDir) stat() (fs.FileInfo, error) {
	i, err := statDir(tree.Boxes, b.d.m.Stat)
	return editedDir(b.d.m, i, err)
}

func (b boxDir) child(name string) (node, error) {
	stem, suffix, _ := strings.Cut(name, ".")
	box, ok := tree.ParseBox(stem)
	suffix = "." + suffix
	if !ok || !isBoxFormat(suffix) {
		return nil, fs.ErrNotExist
	}
	return arrayFile{b.d, name, suffix, &box}.node(), nil
}

// isBoxFormat reports whether files with the suffix hold voxels.
func isBoxFormat(suffix string) bool {
	for _, f := range header.Formats() {
		if f.Suffix == suffix {
			return !f.Detached
		}
	}
	return suffix == tree.Raw
}
