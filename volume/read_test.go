package volume

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"
)

// memoryMag is a mag whose value at a voxel is that of valueAt.
type memoryMag struct {
	Mag
	grid    Grid
	missing map[Vec]bool // cubes that do not exist
	err     error        // of block 1,0,0 of each cube
}

// valueAt returns a value that is different for voxels near each other.
func valueAt(p Vec) byte { return byte(1 + (p[0]*7+p[1]*31+p[2]*101)%255) }

func (m memoryMag) CubeGrid() (Grid, error) { return m.grid, nil }

func (m memoryMag) OpenCube(c Vec) (CubeFile, error) {
	if m.missing[c] {
		return nil, fs.ErrNotExist
	}
	g := m.grid
	g.Origin = g.Origin.Add(c.Mul(g.Size))
	return memoryCube{grid: g, err: m.err}, nil
}

type memoryCube struct {
	CubeFile
	grid Grid
	err  error
}

func (c memoryCube) Grid() Grid   { return c.grid }
func (c memoryCube) Close() error { return nil }

// Fill returns the blocks in reverse order. Block 0,0,0 of each cube was never written.
func (c memoryCube) Fill(_ context.Context, blocks []Block, memory func(Vec) []byte) {
	for i, j := 0, len(blocks)-1; i < j; i, j = i+1, j-1 {
		blocks[i], blocks[j] = blocks[j], blocks[i]
	}
	for i := range blocks {
		b := &blocks[i]
		switch b.At {
		case Vec{}:
			continue
		case Vec{1, 0, 0}:
			b.Err = c.err
		}
		b.Voxels = memory(b.At)
		start := b.At.Mul(c.grid.Block)
		for p := range (Box{Max: c.grid.Block}).All() {
			n := p.Index(c.grid.Block) * c.grid.VoxelBytes()
			value := byte(0xEE) // padding
			if start.Add(p).In(c.grid.Size) {
				value = valueAt(c.grid.Origin.Add(start).Add(p))
			}
			for channel := range c.grid.Channels {
				b.Voxels[n+channel] = value + byte(channel)
			}
		}
	}
}

// want returns the voxels of a box.
func (m memoryMag) want(box Box) []byte {
	var voxels []byte
	for p := range box.All() {
		cube := p.Sub(m.grid.Origin).Div(m.grid.Size)
		stored := !m.missing[cube] && p.Sub(m.grid.Origin).Sub(cube.Mul(m.grid.Size)).Div(m.grid.Block) != Vec{}
		for channel := range m.grid.Channels {
			var value byte
			if stored {
				value = valueAt(p) + byte(channel)
			}
			voxels = append(voxels, value)
		}
	}
	return voxels
}

func TestReadBox(t *testing.T) {
	whole := Grid{Size: Cube(8), Block: Cube(4), Type: Uint8, Channels: 1}
	clipped := Grid{Size: Vec{6, 5, 7}, Block: Vec{4, 3, 2}, Type: Uint8, Channels: 3, Origin: Vec{-10, 3, 100}}
	for _, g := range []Grid{whole, clipped} {
		m := memoryMag{grid: g, missing: map[Vec]bool{{1, 1, 0}: true}}
		for _, offset := range []int{-9, -1, 0, 1, 3, 4, 5, 7, 8} {
			for _, size := range []Vec{{1, 1, 1}, {4, 4, 4}, {5, 1, 9}, {17, 16, 8}, {24, 20, 9}} {
				lo := g.Origin.Add(Vec{offset, -offset, offset / 2})
				box := Box{lo, lo.Add(size)}
				got, err := ReadBox(t.Context(), m, box)
				if err != nil || !bytes.Equal(got, m.want(box)) {
					t.Fatalf("grid %v, box %v: got %v, %v, expected %v", g.Size, box, got, err, m.want(box))
				}
			}
		}
	}
}

func TestReadBoxFails(t *testing.T) {
	broken := errors.New("broken")
	m := memoryMag{grid: Grid{Size: Cube(8), Block: Cube(4), Type: Uint8, Channels: 1}, err: broken}
	if _, err := ReadBox(t.Context(), m, Box{Vec{0, 4, 0}, Cube(8)}); err != nil {
		t.Errorf("beside a damaged block: got %v", err)
	}
	if _, err := ReadBox(t.Context(), m, Box{Vec{3, 0, 0}, Vec{5, 1, 1}}); !errors.Is(err, broken) {
		t.Errorf("with a damaged block: got %v", err)
	}
	for _, box := range []Box{{}, {Cube(4), Cube(3)}, {Vec{}, Cube(1 << 40)}} {
		if _, err := ReadBox(t.Context(), m, box); err == nil {
			t.Errorf("box %v: got no error", box)
		}
	}
}
