package diff

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// fake is a mag in memory. The voxels of a cube depend on their position and on the age of the cube, which is its
// version.
type fake struct {
	grid   volume.Grid // of cube 0,0,0
	bounds volume.Box
	ages   map[volume.Vec]int // of the cubes that exist
	bad    map[volume.Vec]bool
	filled atomic.Int64 // blocks that were decoded
}

// value returns the byte of a voxel, which is often the same for two ages.
func value(v volume.Vec, age int) byte {
	n := uint64(v[0]*31+v[1]*977+v[2]*8191) ^ uint64(age%7)*0x9E3779B97F4A7C15>>60*uint64(v[0]&1)
	return byte(n % 3)
}

func (m *fake) voxel(v volume.Vec) (b byte, exists bool) {
	age, exists := m.ages[v.Sub(m.grid.Origin).Div(m.grid.Size)]
	if !exists {
		return 0, false
	}
	return value(v, age), true
}

func (m *fake) Stat() (fs.FileInfo, error)     { return fs.Stat(fstest.MapFS{}, ".") }
func (m *fake) About() volume.About            { return volume.About{Factor: volume.Factor{1, 1, 1}} }
func (m *fake) CubeGrid() (volume.Grid, error) { return m.grid, nil }
func (m *fake) Bounds() (volume.Box, error)    { return m.bounds, nil }

func (m *fake) Cubes(zy ...int) (numbers []int, err error) {
	for c := range m.ages {
		if at := []int{c[2], c[1], c[0]}; slices.Equal(at[:len(zy)], zy) {
			numbers = append(numbers, at[len(zy)])
		}
	}
	if slices.Sort(numbers); len(numbers) == 0 && len(zy) > 0 {
		err = fs.ErrNotExist
	}
	return slices.Compact(numbers), err
}

func (m *fake) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if len(zyx) < 3 {
		if _, err := m.Cubes(zyx...); err != nil {
			return nil, err
		}
		return m.Stat()
	}
	age, exists := m.ages[volume.Vec{zyx[2], zyx[1], zyx[0]}]
	if !exists {
		return nil, fs.ErrNotExist
	}
	return info{m.grid, volume.Vec{zyx[2], zyx[1], zyx[0]}, age}, nil
}

func (m *fake) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	age, exists := m.ages[c]
	if !exists {
		return nil, fs.ErrNotExist
	}
	g := m.grid
	g.Origin = g.CubeBox(c).Min
	return &fakeCube{m, g, c, info{m.grid, c, age}}, nil
}

type fakeCube struct {
	mag  *fake
	grid volume.Grid
	at   volume.Vec
	info info
}

func (f *fakeCube) Grid() volume.Grid       { return f.grid }
func (f *fakeCube) Info() fs.FileInfo       { return f.info }
func (f *fakeCube) Version() volume.Version { return volume.VersionOf(f.info) }
func (f *fakeCube) Close() error            { return nil }

var errBad = errors.New("a bad block")

func (f *fakeCube) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	f.mag.filled.Add(int64(len(blocks)))
	for i := range blocks {
		b := &blocks[i]
		if b.Voxels, b.Err = nil, nil; f.mag.bad[f.at] {
			b.Err = errBad
			continue
		}
		b.Voxels = memory(b.At)
		box := b.At.BoxOfOne().Mul(f.grid.Block).Add(f.grid.Origin)
		for v := range box.All() {
			b.Voxels[v.Sub(box.Min).Index(f.grid.Block)], _ = f.mag.voxel(v)
		}
	}
}

// info describes a cube. Its version is that of its voxels.
type info struct {
	grid volume.Grid
	at   volume.Vec
	age  int
}

func (i info) Name() string       { return "cube" }
func (i info) Size() int64        { return 1 }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Unix(int64(i.age), 0) }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
func (i info) Details() volume.Details {
	sum := sha256.Sum256(fmt.Append(nil, i.grid, i.at, i.age))
	return volume.Details{Version: func() volume.Version { return volume.Version(sum[:16]) }}
}

// random returns a mag with random cubes.
func random(r *rand.Rand, bounds volume.Box, ages int) *fake {
	some := func(most int) volume.Vec { return volume.Vec{1 + r.IntN(most), 1 + r.IntN(most), 1 + r.IntN(most)} }
	g := volume.Grid{Type: volume.Uint8, Channels: 1, Block: some(6), Origin: some(9).Sub(volume.Cube(8))}
	g.Size = g.Block.Mul(some(3))
	m := &fake{grid: g, bounds: bounds, ages: map[volume.Vec]int{}}
	for c := range bounds.Sub(g.Origin).Div(g.Size).All() {
		if r.IntN(3) > 0 {
			m.ages[c] = 1 + r.IntN(ages)
		}
	}
	return m
}

// box returns a random box near the origin.
func box(r *rand.Rand) (b volume.Box) {
	for axis := range 3 {
		b.Min[axis] = 1 + r.IntN(5) // no cube has a negative position
		b.Max[axis] = b.Min[axis] + 1 + r.IntN(20)
	}
	return b
}

// at returns what a mag shows at a position: what is above, else what is below, within the bounding box.
func at(v volume.Vec, below, above *fake) byte {
	if !below.bounds.Contains(v) {
		return 0
	}
	if above != nil {
		if b, exists := above.voxel(v); exists {
			return b
		}
	}
	b, _ := below.voxel(v)
	return b
}
