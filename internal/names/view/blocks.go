package view

import (
	"cmp"
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// blocksDir has the blocks of a cube. It is x{X}.blocks or a level z{z}, y{y} below it, in blocks from the start of the
// cube. All names follow from the geometry: the cube file is opened only when a block is opened.
type blocksDir struct {
	cube *cubeFile
	at   []int // z and y of the levels above
}

func (d blocksDir) stat() (fs.FileInfo, error) {
	if len(d.at) > 0 {
		if _, err := d.blocks(); err != nil {
			return nil, err
		}
	}
	source, err := d.cube.source()
	if err != nil {
		return nil, err
	}
	name := d.cube.name + tree.Blocks
	if level := len(d.at) - 1; level >= 0 {
		name = tree.LevelName(level, d.at[level])
	}
	return dirInfo(name, source), nil
}

// blocks returns the number of blocks of the cube on each axis. It fails with fs.ErrNotExist if the directory is beyond
// them.
func (d blocksDir) blocks() (volume.Vec, error) {
	g, err := d.cube.grid()
	if err != nil {
		return volume.Vec{}, err
	}
	n := g.Blocks()
	for level, at := range d.at {
		if at >= n[2-level] {
			return n, fs.ErrNotExist
		}
	}
	return n, nil
}

func (d blocksDir) list(yield func(entry, error) bool) {
	n, err := d.blocks()
	if err == nil {
		_, err = d.cube.source() // the cube may not exist
	}
	if err != nil {
		yield(entry{}, err)
		return
	}
	level := len(d.at)
	for i := range n[2-level] {
		e := entry{tree.LevelName(level, i), nil}
		if level < 2 {
			e.node = d.subdir(i)
		} else {
			e.name, e.node = e.name+tree.Raw, d.block(i)
		}
		if !yield(e, nil) {
			return
		}
	}
}

func (d blocksDir) child(name string) (node, error) {
	level := len(d.at)
	if level < 2 {
		if n, ok := tree.ParseLevel(level, name); ok {
			return d.subdir(n), nil
		}
		return nil, fs.ErrNotExist
	}
	stem, ok := strings.CutSuffix(name, tree.Raw)
	if !ok {
		return nil, fs.ErrNotExist
	}
	if n, ok := tree.ParseLevel(level, stem); ok {
		return d.block(n), nil
	}
	return nil, fs.ErrNotExist
}

func (d blocksDir) subdir(n int) blocksDir {
	return blocksDir{d.cube, append(d.at[:len(d.at):len(d.at)], n)}
}

func (d blocksDir) block(x int) blockFile {
	return blockFile{d, volume.Vec{x, d.at[1], d.at[0]}}
}

// blockFile presents a block of a cube as a flat file.
type blockFile struct {
	dir blocksDir
	at  volume.Vec // in blocks from the start of the cube
}

func (f blockFile) name() string { return tree.LevelName(2, f.at[0]) + tree.Raw }

func (f blockFile) stat() (fs.FileInfo, error) {
	g, err := f.dir.cube.grid()
	if err != nil {
		return nil, err
	}
	if !f.at.In(g.Blocks()) {
		return nil, fs.ErrNotExist
	}
	source, err := f.dir.cube.source()
	if err != nil {
		return nil, err
	}
	return f.info(g, source), nil
}

// info describes the block. g is the geometry of cube 0,0,0 of the mag, source the cube file.
func (f blockFile) info(g volume.Grid, source fs.FileInfo) info {
	i := fileInfo(f.name(), int64(g.BlockBytes()), source)
	n := g.Blocks()
	i.stored /= int64(n[0]) * int64(n[1]) * int64(n[2]) // the average of the blocks
	array := g
	array.Size = g.Block
	array.Origin = g.CubeBox(f.dir.cube.at).Min.Add(f.at.Mul(g.Block))
	i.array = &array
	return i
}

func (f blockFile) open() (fs.File, error) {
	if g, err := f.dir.cube.grid(); err != nil || !f.at.In(g.Blocks()) {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return f.dir.cube.openBox(func(g volume.Grid, source fs.FileInfo) (volume.Box, info) {
		return g.BlockBox(f.at), f.info(g, source)
	})
}
