package overlay

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// stored is a mag in memory. Its blocks may lie anywhere, and some of a cube may be absent.
type stored struct {
	grid   volume.Grid // of cube 0,0,0
	bounds volume.Box
	cubes  map[volume.Vec]map[volume.Vec][]byte
	age    map[volume.Vec]int   // changes the version of a cube
	faults map[volume.Vec]error // of the blocks of a cube
	opened int                  // calls of OpenCube
}

func (m *stored) Stat() (fs.FileInfo, error)     { return fs.Stat(fstest.MapFS{}, ".") }
func (m *stored) About() volume.About            { return volume.About{Factor: volume.Factor{1, 1, 1}} }
func (m *stored) CubeGrid() (volume.Grid, error) { return m.grid, nil }
func (m *stored) Bounds() (volume.Box, error)    { return m.bounds, nil }
func (m *stored) notExist() error {
	return &fs.PathError{Op: "open", Path: "cube", Err: fs.ErrNotExist}
}
func (m *stored) has(zyx ...int) bool             { return len(m.below(zyx...)) > 0 }
func (m *stored) infoOf(c volume.Vec) fs.FileInfo { return info{m.age[c], int64(len(m.cubes[c]))} }

// below returns the cubes of a level.
func (m *stored) below(zyx ...int) (found []volume.Vec) {
	for c := range m.cubes {
		if at := []int{c[2], c[1], c[0]}; slices.Equal(at[:len(zyx)], zyx) {
			found = append(found, c)
		}
	}
	return found
}

func (m *stored) Cubes(zy ...int) (numbers []int, err error) {
	for _, c := range m.below(zy...) {
		numbers = append(numbers, c[2-len(zy)])
	}
	if len(numbers) == 0 && len(zy) > 0 {
		return nil, m.notExist()
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

func (m *stored) StatCubes(zyx ...int) (fs.FileInfo, error) {
	switch {
	case !m.has(zyx...):
		return nil, m.notExist()
	case len(zyx) < 3:
		return m.Stat()
	}
	return m.infoOf(volume.Vec{zyx[2], zyx[1], zyx[0]}), nil
}

func (m *stored) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	m.opened++
	if m.cubes[c] == nil {
		return nil, m.notExist()
	}
	g := m.grid
	g.Origin = g.CubeBox(c).Min
	return &storedCube{m, g, c, m.infoOf(c)}, nil
}

type storedCube struct {
	mag  *stored
	grid volume.Grid
	at   volume.Vec
	info fs.FileInfo
}

func (f *storedCube) Grid() volume.Grid    { return f.grid }
func (f *storedCube) Info() fs.FileInfo    { return f.info }
func (f *storedCube) Version() vfs.Version { return vfs.VersionOf(f.info) }
func (f *storedCube) Close() error         { return nil }

func (f *storedCube) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	rand.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = nil, f.mag.faults[f.at]
		if !b.At.In(f.grid.Blocks()) {
			b.Err = fmt.Errorf("block %v of %v", b.At, f.grid.Blocks())
		}
		if voxels := f.mag.cubes[f.at][b.At]; voxels != nil && b.Err == nil {
			b.Voxels = memory(b.At)
			copy(b.Voxels, voxels)
		}
	}
}

// info describes a cube in memory.
type info struct {
	age  int
	size int64
}

func (i info) Name() string       { return "cube" }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Unix(int64(i.age), 0) }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

// random returns a mag with random blocks.
func random(r *rand.Rand, bounds volume.Box, voxels volume.Type) *stored {
	side := func(most int) volume.Vec { return volume.Vec{1 + r.IntN(most), 1 + r.IntN(most), 1 + r.IntN(most)} }
	g := volume.Grid{Type: voxels, Channels: 1, Block: side(6), Origin: side(9).Sub(volume.Cube(8))}
	g.Size = g.Block.Mul(side(3))
	m := &stored{grid: g, bounds: bounds, cubes: map[volume.Vec]map[volume.Vec][]byte{}, age: map[volume.Vec]int{}}
	for c := range bounds.Sub(g.Origin).Div(g.Size).All() {
		if r.IntN(3) == 0 {
			continue
		}
		m.cubes[c] = map[volume.Vec][]byte{}
		for at := range (volume.Box{Max: g.Blocks()}).All() {
			if r.IntN(3) == 0 {
				continue
			}
			b := make([]byte, g.BlockBytes())
			for i := range b {
				b[i] = byte(r.IntN(3)) // zeros are frequent
			}
			m.cubes[c][at] = b
		}
	}
	return m
}

// naive returns the voxels of a box, one by one: those above where there is a block, zeros included.
func naive(below, above *stored, box volume.Box) (voxels []byte) {
	for v := range box.All() {
		got := above.voxel(v)
		if got == nil {
			got = below.voxel(v)
		}
		if got == nil {
			got = make([]byte, below.grid.VoxelBytes())
		}
		voxels = append(voxels, got...)
	}
	return voxels
}

// voxel returns the bytes of a voxel, or nil if its block is absent.
func (m *stored) voxel(v volume.Vec) []byte {
	at := v.Sub(m.grid.Origin)
	c := at.Div(m.grid.Size)
	inCube := at.Sub(c.Mul(m.grid.Size))
	b := inCube.Div(m.grid.Block)
	voxels := m.cubes[c][b]
	if voxels == nil {
		return nil
	}
	n := m.grid.VoxelBytes()
	return voxels[inCube.Sub(b.Mul(m.grid.Block)).Index(m.grid.Block)*n:][:n]
}
