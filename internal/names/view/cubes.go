package view

import (
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// cubesDir is a level of the index of cubes: z{Z}/y{Y}/x{X}.raw and x{X}.blocks.
type cubesDir struct {
	fsys *FS
	m    volume.Mag
	at   []int // z and y of the levels above
}

func (d cubesDir) stat() (fs.FileInfo, error) {
	source, err := d.m.StatCubes(d.at...)
	if err != nil {
		return nil, err
	}
	level := len(d.at) - 1
	return dirInfo(tree.LevelName(level, d.at[level]), source), nil
}

func (d cubesDir) list(yield func(entry, error) bool) {
	for found, err := range volume.ListCubes(d.m, d.at...) {
		for _, n := range found {
			if !d.yieldCube(n, yield) {
				return
			}
		}
		if err != nil {
			yield(entry{}, err)
			return
		}
	}
}

// yieldCube yields the entries of number n of the level.
func (d cubesDir) yieldCube(n int, yield func(entry, error) bool) bool {
	level := len(d.at)
	name := tree.LevelName(level, n)
	if level < 2 {
		return yield(entry{name, d.subdir(n)}, nil)
	}
	c := d.cube(n)
	return yield(entry{name + tree.Raw, c.node()}, nil) && (d.fsys.hideBlocks ||
		yield(entry{name + tree.Blocks, blocksDir{cube: c}}, nil))
}

func (d cubesDir) child(name string) (node, error) {
	level := len(d.at)
	if level < 2 {
		if n, ok := tree.ParseLevel(level, name); ok {
			return d.subdir(n), nil
		}
		return nil, fs.ErrNotExist
	}
	if stem, ok := strings.CutSuffix(name, tree.Raw); ok {
		if n, ok := tree.ParseLevel(level, stem); ok {
			return d.cube(n).node(), nil
		}
	}
	if stem, ok := strings.CutSuffix(name, tree.Blocks); ok {
		if n, ok := tree.ParseLevel(level, stem); ok {
			return blocksDir{cube: d.cube(n)}, nil
		}
	}
	return nil, fs.ErrNotExist
}

func (d cubesDir) subdir(n int) cubesDir {
	return cubesDir{d.fsys, d.m, append(d.at[:len(d.at):len(d.at)], n)}
}

// cube returns cube x of a directory z{Z}/y{Y}.
func (d cubesDir) cube(x int) *cubeFile {
	return &cubeFile{fsys: d.fsys, m: d.m, name: tree.LevelName(2, x), at: volume.Vec{x, d.at[1], d.at[0]}}
}

// singleDir is the root if the source is one cube file.
type singleDir struct {
	fsys *FS
	c    *volume.SingleCube
}

func (d singleDir) stat() (fs.FileInfo, error) { return statDir(".", d.c.Stat) }

func (d singleDir) list(yield func(entry, error) bool) {
	names := []string{d.c.Name + tree.Raw, d.c.Name + tree.Blocks}
	if d.fsys.hideBlocks {
		names = names[:1]
	}
	yieldChildren(d, names, yield)
}

func (d singleDir) child(name string) (node, error) {
	c := &cubeFile{fsys: d.fsys, single: d.c, name: d.c.Name}
	switch name {
	case d.c.Name + tree.Raw:
		return c, nil
	case d.c.Name + tree.Blocks:
		return blocksDir{cube: c}, nil
	}
	return nil, fs.ErrNotExist
}
