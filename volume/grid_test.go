package volume

import (
	"errors"
	"strings"
	"testing"
)

func TestGrid(t *testing.T) {
	g := Grid{Size: Vec{100, 64, 33}, Block: Vec{32, 32, 16}, Type: Uint16, Channels: 3}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	if g.VoxelBytes() != 6 || g.BlockBytes() != 6*32*32*16 || g.Bytes() != 6*100*64*33 || g.Blocks() != (Vec{4, 2, 3}) {
		t.Errorf("got %d, %d, %d, %v", g.VoxelBytes(), g.BlockBytes(), g.Bytes(), g.Blocks())
	}
	for _, c := range []struct {
		b    Vec
		want string
	}{
		{Vec{0, 0, 0}, "0-32_0-32_0-16"},
		{Vec{3, 1, 1}, "96-100_32-64_16-32"},
		{Vec{3, 1, 2}, "96-100_32-64_32-33"},
	} {
		if got := g.BlockBox(c.b).String(); got != c.want {
			t.Errorf("block %v: got %s, expected %s", c.b, got, c.want)
		}
	}
}

// TestBlockBoxes shows that each voxel is in exactly one BlockBox.
func TestBlockBoxes(t *testing.T) {
	for _, side := range []int{1, 3, 4, 5, 8, 9} {
		g := Grid{Size: Vec{side, 4, 7}, Block: Vec{4, 3, 4}, Type: Uint8, Channels: 1}
		seen := make([]int, g.Bytes())
		for b := range (Box{Max: g.Blocks()}).All() {
			for v := range g.BlockBox(b).All() {
				seen[v.Index(g.Size)]++
			}
		}
		for i, n := range seen {
			if n != 1 {
				t.Fatalf("size %v: voxel %d is in %d blocks", g.Size, i, n)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	sound := Grid{Size: Cube(64), Block: Cube(32), Type: Uint8, Channels: 1}
	for _, c := range []struct {
		name     string
		change   func(*Grid)
		want     string // empty if the grid is valid
		tooLarge bool
	}{
		{"sound", func(*Grid) {}, "", false},
		{"one voxel in a large block", func(g *Grid) { g.Size = Cube(1) }, "", false},
		{"block of one voxel", func(g *Grid) { g.Block = Cube(1) }, "", false},
		{"largest array", func(g *Grid) { g.Size = Vec{1<<63 - 33, 1, 1} }, "", false},
		{"largest array of floats", func(g *Grid) { g.Size, g.Type = Vec{1 << 59, 1, 1}, Float64 }, "", false},

		{"the zero grid", func(g *Grid) { *g = Grid{} }, "grid of 0 × Type(0) values a voxel", false},
		{"no type", func(g *Grid) { g.Type = 0 }, "grid of 1 × Type(0) values a voxel", false},
		{"no channel", func(g *Grid) { g.Channels = 0 }, "grid of 0 × uint8 values a voxel", false},
		{"negative channels", func(g *Grid) { g.Channels = -1 }, "grid of -1 × uint8 values a voxel", false},
		{"empty on x", func(g *Grid) { g.Size[0] = 0 }, "empty on x", false},
		{"negative on y", func(g *Grid) { g.Size[1] = -1 }, "empty on y", false},
		{"no block on z", func(g *Grid) { g.Block[2] = 0 }, "empty on z", false},

		{"block of 2^63 bytes", func(g *Grid) { g.Block = Cube(1 << 21) }, "block of 2097152,2097152,2097152 voxels",
			true},
		{"block of 2^64 bytes", func(g *Grid) { g.Block, g.Channels = Cube(1<<21), 2 }, "block of", true},
		{"array of 2^63 bytes", func(g *Grid) { g.Size = Cube(1 << 21) }, "array of 2097152,2097152,2097152 voxels",
			true},
		{"array of 2^63 bytes with channels", func(g *Grid) { g.Size, g.Channels = Vec{1 << 61, 1, 1}, 4 }, "array of",
			true},
		{"array of 2^192 bytes", func(g *Grid) { g.Size = Cube(1<<63 - 33) }, "array of", true},
		{"last block ends beyond 2^63", func(g *Grid) { g.Size = Vec{1<<63 - 32, 1, 1} }, "on x", true},
	} {
		g := sound
		c.change(&g)
		err := g.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: got %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, expected %q", c.name, err, c.want)
		case errors.Is(err, ErrTooLarge) != c.tooLarge:
			t.Errorf("%s: too large is %v: %v", c.name, !c.tooLarge, err)
		}
	}
}

func TestCubeBox(t *testing.T) {
	g := Grid{Size: Vec{64, 64, 32}, Origin: Vec{-5, 0, 100}}
	for _, c := range []struct {
		at   Vec
		want Box
	}{
		{Vec{}, Box{Min: g.Origin, Max: Vec{59, 64, 132}}},
		{Vec{2, 0, 1}, Box{Min: Vec{123, 0, 132}, Max: Vec{187, 64, 164}}},
	} {
		if got := g.CubeBox(c.at); got != c.want {
			t.Errorf("cube %v: got %v, expected %v", c.at, got, c.want)
		}
	}
}
