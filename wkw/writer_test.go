package wkw

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// blocksOf is a source with the blocks that a function returns.
type blocksOf struct {
	grid  volume.Grid
	block func(b volume.Vec) ([]byte, error)
}

func (s blocksOf) Grid() volume.Grid { return s.grid }

func (s blocksOf) Fill(_ context.Context, blocks []volume.Block, _ func(volume.Vec) []byte) {
	for i := range blocks {
		blocks[i].Voxels, blocks[i].Err = s.block(blocks[i].At)
	}
}

// TestWriteCubeIncompressible writes random bytes, whose stored form is larger than they are.
func TestWriteCubeIncompressible(t *testing.T) {
	for _, bt := range []BlockType{LZ4, LZ4HC} {
		for _, side := range []int{1, 2, 4, 32} {
			grid := cubeOf(volume.Uint8, 1, side, 1).Grid()
			want := make([]byte, grid.BlockBytes())
			random := rand.New(rand.NewPCG(1, 2))
			for i := range want {
				want[i] = byte(random.Uint32())
			}
			f := writeCube(t, bt, blocksOf{grid, func(volume.Vec) ([]byte, error) { return want, nil }})
			got, err := volume.ReadBlock(t.Context(), f, volume.Vec{})
			if err != nil || string(got) != string(want) {
				t.Errorf("%v, side %d: %v", bt, side, err)
			}
			if size, err := f.StoredSize(volume.Vec{}); err != nil || size <= int64(len(want)) {
				t.Errorf("%v, side %d: stored in %d bytes, %v", bt, side, size, err)
			}
		}
	}
}

func TestWriteCubeZeros(t *testing.T) {
	for bt := Raw; bt <= LZ4HC; bt++ {
		grid := cubeOf(volume.Float64, 2, 4, 2).Grid()
		f := writeCube(t, bt, blocksOf{grid, func(volume.Vec) ([]byte, error) { return nil, nil }})
		for b := range (volume.Box{Max: grid.Blocks()}).All() {
			if block, err := volume.ReadBlock(t.Context(), f, b); err != nil ||
				string(block) != string(make([]byte, grid.BlockBytes())) {
				t.Errorf("%v, block %v: %v", bt, b, err)
			}
		}
	}
}

// TestWriteCubeBatches writes more blocks than one batch.
func TestWriteCubeBatches(t *testing.T) {
	src := cubeOf(volume.Uint16, 1, 1, 32)
	if src.Grid().Blocks()[0] < 32 || 1<<15 <= batchBlocks {
		t.Fatal("one batch")
	}
	checkFlat(t, writeCube(t, LZ4, src), src)
}

func TestWriteCubeLayout(t *testing.T) {
	src := cubeOf(volume.Uint16, 1, 8, 2)
	for bt, want := range map[BlockType]uint64{Raw: 16, LZ4: 80, LZ4HC: 80} {
		h := writeCube(t, bt, src).Header()
		if h != (Header{false, 8, 2, bt, volume.Uint16, 1, want}) {
			t.Errorf("got %+v", h)
		}
	}
}

func TestWriteCubeErrors(t *testing.T) {
	good := cubeOf(volume.Uint8, 1, 4, 2).Grid()
	change := func(f func(g *volume.Grid)) volume.Grid { g := good; f(&g); return g }
	blocks := func(b []byte, err error) func(volume.Vec) ([]byte, error) {
		return func(volume.Vec) ([]byte, error) { return b, err }
	}
	for _, c := range []struct {
		name string
		bt   BlockType
		src  blocksOf
		want string
	}{
		{"no grid", Raw, blocksOf{volume.Grid{}, nil}, "grid of 0 × Type(0) values a voxel"},
		{"block type", 0, blocksOf{good, nil}, "header with BlockType(0)"},
		{"not cubic", Raw, blocksOf{change(func(g *volume.Grid) { g.Size[2] = 16 }), nil},
			"array of 8,8,16 voxels in blocks of 4,4,4: expected a cube of whole cubic blocks"},
		{"blocks not cubic", Raw, blocksOf{change(func(g *volume.Grid) { g.Block[1] = 2 }), nil},
			"array of 8,8,8 voxels in blocks of 4,2,4: expected a cube of whole cubic blocks"},
		{"blocks not whole", Raw, blocksOf{change(func(g *volume.Grid) { g.Size = volume.Cube(9) }), nil},
			"array of 9,9,9 voxels in blocks of 4,4,4: expected a cube of whole cubic blocks"},
		{"less than a block", Raw, blocksOf{change(func(g *volume.Grid) { g.Size = volume.Cube(2) }), nil},
			"array of 2,2,2 voxels in blocks of 4,4,4: expected a cube of whole cubic blocks"},
		{"no power of two", Raw, blocksOf{change(func(g *volume.Grid) { g.Size = volume.Cube(12) }), nil},
			"header with cubes of 3 blocks a side: expected a power of two up to 32768"},
		{"256 bytes a voxel", Raw, blocksOf{change(func(g *volume.Grid) { g.Channels = 256 }), nil},
			"header with voxels of 256 × uint8: expected 1 to 255 bytes"},
		{"huge blocks", Raw,
			blocksOf{change(func(g *volume.Grid) { g.Size, g.Block = volume.Cube(2048), volume.Cube(2048) }), nil},
			"blocks of 8589934592 bytes: expected at most 1073741824"},
		{"source fails", LZ4, blocksOf{good, blocks(nil, fs.ErrPermission)}, "permission denied"},
		{"short block", LZ4, blocksOf{change(func(g *volume.Grid) { g.Size = g.Block }), blocks(make([]byte, 63), nil)},
			"block 0,0,0: expected 64 bytes, found 63"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x0.wkw")
			if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			err := WriteCube(t.Context(), path, c.bt, c.src)
			if err == nil || err.Error() != path+": "+c.want {
				t.Errorf("got %v\nexpected %s", err, c.want)
			}
			if c.name == "source fails" && !errors.Is(err, fs.ErrPermission) {
				t.Error("the cause is lost")
			}
			checkOnly(t, dir, "x0.wkw", "old")
		})
	}
}

func TestWriteCubeCanceled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WriteCube(ctx, filepath.Join(dir, "x0.wkw"), LZ4, damagedCube); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("files after the failure: %v", entries)
	}
}

func TestWriteCubeNoDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "z0", "x0.wkw")
	if err := WriteCube(t.Context(), path, LZ4, damagedCube); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestWriteHeader(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "header.wkw")
	h := Header{false, 32, 32, LZ4HC, volume.Uint16, 3, 262160}
	if err := WriteHeader(path, h); err != nil {
		t.Fatal(err)
	}
	checkOnly(t, dir, "header.wkw", "WKW\x01\x55\x03\x02\x06\x00\x00\x00\x00\x00\x00\x00\x00")
	if err := WriteHeader(path, Header{}); err == nil || err.Error() != path+": header with BlockType(0)" {
		t.Errorf("got %v", err)
	}
}

// checkOnly checks that a directory has one file with the content, and nothing else.
func checkOnly(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v; expected %s alone", entries, err, name)
	}
	if got := bytesOf(t, os.DirFS(dir), name); string(got) != content {
		t.Errorf("%s: got %q", name, got)
	}
}
