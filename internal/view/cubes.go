package view

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	rawSuffix    = ".raw"
	blocksSuffix = ".blocks"
)

// axes are the letters that name the levels of an index, the slowest axis first.
const axes = "zyx"

// cubesDir is one level of the index of cube files: z{Z}/y{Y}/x{X}.raw and x{X}.blocks.
type cubesDir struct {
	t  *tree
	m  volume.Mag
	at []int // z, y: as many as there are levels above
}

func (d cubesDir) stat() (fs.FileInfo, error) {
	base, err := d.m.StatCubes(d.at...)
	if err != nil {
		return nil, err
	}
	level := len(d.at) - 1
	return dirInfo(levelName(level, d.at[level]), base), nil
}

func (d cubesDir) list() ([]fs.DirEntry, error) {
	found, err := d.m.Cubes(d.at...)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, 0, 2*len(found))
	level := len(d.at)
	for _, n := range found {
		name := levelName(level, n)
		if level < 2 {
			entries = append(entries, entry{name, d.below(n)})
			continue
		}
		c := d.cube(n)
		entries = append(entries, entry{name + rawSuffix, c}, entry{name + blocksSuffix, blocksDir{cube: c}})
	}
	return entries, nil
}

func (d cubesDir) child(name string) (node, error) {
	level := len(d.at)
	if level < 2 {
		if n, ok := parseLevel(level, name); ok {
			return d.below(n), nil
		}
		return nil, fs.ErrNotExist
	}
	if stem, ok := strings.CutSuffix(name, rawSuffix); ok {
		if n, ok := parseLevel(level, stem); ok {
			return d.cube(n), nil
		}
	}
	if stem, ok := strings.CutSuffix(name, blocksSuffix); ok {
		if n, ok := parseLevel(level, stem); ok {
			return blocksDir{cube: d.cube(n)}, nil
		}
	}
	return nil, fs.ErrNotExist
}

func (d cubesDir) below(n int) cubesDir {
	return cubesDir{d.t, d.m, append(d.at[:len(d.at):len(d.at)], n)}
}

// cube is the cube file x of the index directory z, y.
func (d cubesDir) cube(x int) cubeFile {
	c := volume.Vec{x, d.at[1], d.at[0]}
	return cubeFile{
		t:    d.t,
		name: levelName(2, x),
		at:   c,
		grid: d.m.CubeGrid,
		base: func() (fs.FileInfo, error) { return d.m.StatCubes(c[2], c[1], c[0]) },
		cube: func() (volume.CubeFile, error) { return d.t.openCube(d.m, c) },
	}
}

// singleDir shows one cube file that was named as the source.
type singleDir struct {
	t *tree
	c *volume.SingleCube
}

func (d singleDir) stat() (fs.FileInfo, error) { return statDir(".", d.c.Stat) }

func (d singleDir) list() ([]fs.DirEntry, error) {
	return listAs(d, []string{d.c.Name + rawSuffix, d.c.Name + blocksSuffix}, nil)
}

func (d singleDir) child(name string) (node, error) {
	c := cubeFile{
		t:    d.t,
		name: d.c.Name,
		grid: func() (volume.Grid, error) { return d.c.Grid, nil },
		base: d.c.Stat,
		cube: d.c.Open,
	}
	switch name {
	case d.c.Name + rawSuffix:
		return c, nil
	case d.c.Name + blocksSuffix:
		return blocksDir{cube: c}, nil
	}
	return nil, fs.ErrNotExist
}

// cubeFile shows a cube as one flat file, and knows how to open it.
type cubeFile struct {
	t    *tree
	name string     // of the cube, without a suffix
	at   volume.Vec // among the cubes of the mag
	size volume.Vec // that is shown, where that is not the whole cube
	grid func() (volume.Grid, error)
	base func() (fs.FileInfo, error)
	cube func() (volume.CubeFile, error)
}

func (f cubeFile) stat() (fs.FileInfo, error) {
	base, err := f.base()
	if err != nil {
		return nil, err
	}
	// The size is that of every cube of the mag: the file need not be opened.
	g, err := f.grid()
	if err != nil {
		return nil, err
	}
	return f.info(g, base), nil
}

// info describes the cube of geometry g that is stored in base. g.Origin is that of
// the mag's first cube.
func (f cubeFile) info(g volume.Grid, base fs.FileInfo) info {
	g.Origin = g.Origin.Add(f.at.Mul(g.Size))
	if f.size != (volume.Vec{}) {
		g.Size = f.size
	}
	i := fileInfo(f.name+rawSuffix, g.Bytes(), base)
	i.array = &g
	return i
}

func (f cubeFile) open() (fs.File, error) {
	return f.openBox(func(g volume.Grid, base fs.FileInfo) (volume.Box, info) {
		i := f.info(g, base)
		return volume.Box{Max: i.array.Size}, i
	})
}

// openBox opens a box of the cube as a flat file. Which box, and how the file is to
// be described, is asked with what the opened file says of itself.
func (f cubeFile) openBox(describe func(volume.Grid, fs.FileInfo) (volume.Box, info)) (fs.File, error) {
	c, err := f.cube()
	if err != nil {
		return nil, err
	}
	g := c.Grid()
	g.Origin = g.Origin.Sub(f.at.Mul(g.Size)) // of the first cube
	box, info := describe(g, c.Info())
	array := prefetch.Array{Array: flat.New(c.Grid(), box, volume.Box{Max: c.Grid().Size}), Source: f.t.prefetch.Cache().Source(c), Version: c.Version()}
	return newFile(info, header.Layout{}, f.t.prefetch.NewReader(array, prefetch.Unknown), func() { c.Close() }), nil
}

// levelName returns the name of entry n at a level of an index: z0, y1, x2.
func levelName(level, n int) string { return axes[level:level+1] + strconv.Itoa(n) }

// parseLevel reads a name of the form that levelName returns.
func parseLevel(level int, name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, axes[level:level+1])
	if !ok {
		return 0, false
	}
	return volume.ParseIndex(digits)
}
