package copier

import (
	"encoding/json"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Nearest returns the path that a path was probably meant to be, which shown does not have: one that differs in its
// first absent element. It compares at most a number of names. It returns "" if there is none.
func Nearest(shown fs.FS, name string, most int) string {
	dir, absent, rest := path.Dir(name), path.Base(name), ""
	for ; dir != "."; dir, absent, rest = path.Dir(dir), path.Base(dir), path.Join(absent, rest) {
		if _, err := fs.Stat(shown, dir); err == nil {
			break
		}
	}
	var names []string
	for entries := range vfs.List(shown, dir) {
		for _, e := range entries[:min(len(entries), most)] {
			names = append(names, e.Name())
		}
		break
	}
	word := hint.Nearest(absent, names)
	near := path.Join(dir, word, rest)
	if _, err := fs.Stat(shown, near); err != nil || word == "" {
		return ""
	}
	return near
}

// exampleSide is the largest side of a box in a hint, in voxels.
const exampleSide = 64

// CheckBoxes returns an error if a path is the directory of boxes of a mag, which lists none. The hint names a box. A
// layer may have the name of that directory, but lists its mags.
func CheckBoxes(shown fs.FS, name string) error {
	if path.Base(name) != tree.Boxes {
		return nil
	}
	if entries, err := fs.ReadDir(shown, name); err != nil || len(entries) > 0 {
		return nil // the copy finds the error
	}
	var mag struct{ Shape, Origin volume.Vec }
	b, err := fs.ReadFile(shown, path.Join(path.Dir(name), tree.VolumeJSON))
	if err != nil || json.Unmarshal(b, &mag) != nil {
		mag.Shape = volume.Cube(exampleSide)
	}
	box := volume.Box{Min: mag.Origin, Max: mag.Origin}
	for axis, n := range mag.Shape {
		box.Max[axis] += min(n, exampleSide)
	}
	example := path.Join(name, tree.BoxName(box)+tree.Raw)
	return hint.Errorf("name a box X0-X1_Y0-Y1_Z0-Z1, such as "+hint.Quote(example),
		"%s has any box, and lists none: there is nothing to copy", name)
}
