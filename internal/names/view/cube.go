package view

import (
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/volume"
)

// cubeFile presents a cube as a flat file. The directory of its blocks points to it.
type cubeFile struct {
	fsys *FS
	name string     // of the cube, without a suffix
	at   volume.Vec // in cubes of the mag
	part volume.Box // what the file has, in voxels from the start of the cube; empty: the whole cube

	m      volume.Mag
	single *volume.SingleCube // instead of a mag, if that is the source
}

// grid returns the geometry of cube 0,0,0.
func (f *cubeFile) grid() (volume.Grid, error) {
	if f.single != nil {
		return f.single.Grid, nil
	}
	return f.m.CubeGrid()
}

// source describes the stored file.
func (f *cubeFile) source() (fs.FileInfo, error) {
	if f.single != nil {
		return f.single.Stat()
	}
	return f.m.StatCubes(f.at[2], f.at[1], f.at[0])
}

// openCube opens the stored file.
func (f *cubeFile) openCube() (volume.CubeFile, error) {
	if f.single != nil {
		return f.single.Open()
	}
	return f.fsys.openCube(f.m, f.at)
}

func (f *cubeFile) stat() (fs.FileInfo, error) {
	source, err := f.source()
	if err != nil {
		return nil, err
	}
	// All cubes of the mag have the same size, so the file is not opened.
	g, err := f.grid()
	if err != nil {
		return nil, err
	}
	return f.info(g, source), nil
}

// info describes the cube. g is the geometry of cube 0,0,0 of the mag, source the cube file.
func (f *cubeFile) info(g volume.Grid, source fs.FileInfo) info {
	part := f.box(g)
	g.Origin = g.CubeBox(f.at).Min.Add(part.Min)
	g.Size = part.Size()
	i := fileInfo(f.name+tree.Raw, g.Bytes(), source)
	i.array = &g
	return i
}

func (f *cubeFile) open() (fs.File, error) {
	return f.openBox(func(g volume.Grid, source fs.FileInfo) (volume.Box, info) {
		return f.box(g), f.info(g, source)
	})
}

// box returns what the file has, in voxels from the start of the cube. g is the geometry of the cube.
func (f *cubeFile) box(g volume.Grid) volume.Box {
	if f.part.Empty() {
		return volume.Box{Max: g.Size}
	}
	return f.part
}

// openBox opens a box of the cube as a flat file. describe returns the box, in voxels from the start of the cube, and
// the description of the file. Its arguments come from the open cube: the geometry of cube 0,0,0 and the cube file.
func (f *cubeFile) openBox(describe func(volume.Grid, fs.FileInfo) (volume.Box, info)) (fs.File, error) {
	c, err := f.openCube()
	if err != nil {
		return nil, err
	}
	g := c.Grid()
	g.Origin = g.Origin.Sub(f.at.Mul(g.Size)) // of cube 0,0,0
	box, info := describe(g, c.Info())
	blocks := f.fsys.prefetch.Cache().Source(c)
	if err := fits(f.fsys.prefetch.Cache(), c, c.Grid(), f.m, f.name); err != nil {
		c.Close()
		return nil, err
	}
	array := prefetch.Array{Array: flat.New(c.Grid(), box, volume.Box{Max: c.Grid().Size}), Source: blocks}
	return newFile(info, header.Layout{}, arrayReader{f.fsys.prefetch.NewReader(array, prefetch.NoHint)},
		func() { c.Close() }), nil
}
