package view

import (
	"cmp"
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// blocksDir shows the blocks of a cube: x{X}.blocks and the levels z{z}/y{y} below
// it, in block coordinates inside the cube. Everything here follows from the
// geometry; the cube file is opened only with a block.
type blocksDir struct {
	cube cubeFile
	at   []int // z, y: as many as there are levels above
}

func (d blocksDir) stat() (fs.FileInfo, error) {
	if len(d.at) > 0 {
		if _, err := d.sides(); err != nil {
			return nil, err
		}
	}
	base, err := d.cube.base()
	if err != nil {
		return nil, err
	}
	name := d.cube.name + blocksSuffix
	if level := len(d.at) - 1; level >= 0 {
		name = levelName(level, d.at[level])
	}
	return dirInfo(name, base), nil
}

// sides returns how many blocks the cube has on each axis; fs.ErrNotExist where this
// directory is beyond them.
func (d blocksDir) sides() (volume.Vec, error) {
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

func (d blocksDir) list() ([]fs.DirEntry, error) {
	n, err := d.sides()
	if err != nil {
		return nil, err
	}
	if _, err := d.cube.base(); err != nil { // the blocks of a cube that is there
		return nil, err
	}
	level := len(d.at)
	entries := make([]fs.DirEntry, n[2-level])
	for i := range entries {
		name := levelName(level, i)
		if level < 2 {
			entries[i] = entry{name, d.below(i)}
		} else {
			entries[i] = entry{name + rawSuffix, d.block(i)}
		}
	}
	return entries, nil
}

func (d blocksDir) child(name string) (node, error) {
	level := len(d.at)
	if level < 2 {
		if n, ok := parseLevel(level, name); ok {
			return d.below(n), nil
		}
		return nil, fs.ErrNotExist
	}
	stem, ok := strings.CutSuffix(name, rawSuffix)
	if !ok {
		return nil, fs.ErrNotExist
	}
	if n, ok := parseLevel(level, stem); ok {
		return d.block(n), nil
	}
	return nil, fs.ErrNotExist
}

func (d blocksDir) below(n int) blocksDir {
	return blocksDir{d.cube, append(d.at[:len(d.at):len(d.at)], n)}
}

func (d blocksDir) block(x int) blockFile {
	return blockFile{d, volume.Vec{x, d.at[1], d.at[0]}}
}

// blockFile shows one block of a cube as a flat file.
type blockFile struct {
	dir blocksDir
	b   volume.Vec
}

func (f blockFile) name() string { return levelName(2, f.b[0]) + rawSuffix }

func (f blockFile) stat() (fs.FileInfo, error) {
	g, err := f.dir.cube.grid()
	if err != nil {
		return nil, err
	}
	if !f.b.In(g.Blocks()) {
		return nil, fs.ErrNotExist
	}
	base, err := f.dir.cube.base()
	if err != nil {
		return nil, err
	}
	return f.info(g, base), nil
}

// info describes the block of a cube of geometry g that is stored in base.
func (f blockFile) info(g volume.Grid, base fs.FileInfo) info {
	i := fileInfo(f.name(), int64(g.BlockBytes()), base)
	n := g.Blocks()
	i.stored /= int64(n[0]) * int64(n[1]) * int64(n[2]) // its share of the cube
	array := g
	array.Size = g.Block
	array.Origin = g.Origin.Add(f.dir.cube.at.Mul(g.Size)).Add(f.b.Mul(g.Block))
	i.array = &array
	return i
}

func (f blockFile) open() (fs.File, error) {
	if g, err := f.dir.cube.grid(); err != nil || !f.b.In(g.Blocks()) {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return f.dir.cube.openBox(func(g volume.Grid, base fs.FileInfo) (volume.Box, info) {
		return g.BlockBox(f.b), f.info(g, base)
	})
}
