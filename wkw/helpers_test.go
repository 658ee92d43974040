package wkw

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/volume"
)

// coordinates is an array whose bytes encode their coordinates.
type coordinates struct{ grid volume.Grid }

func (c coordinates) Grid() volume.Grid { return c.grid }

// voxel appends the bytes of the voxel at p.
func (c coordinates) voxel(b []byte, p volume.Vec) []byte {
	for channel := range c.grid.Channels {
		n := uint64(channel + c.grid.Channels*p.Index(c.grid.Size))
		n += (n>>8)*0x9D + (n>>16)*0x3B // so that the low byte depends on all coordinates
		var value [8]byte
		binary.LittleEndian.PutUint64(value[:], n)
		b = append(b, value[:c.grid.Type.Size()]...)
	}
	return b
}

func (c coordinates) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		block := memory(blocks[i].At)[:0]
		for p := range c.grid.BlockBox(blocks[i].At).All() {
			block = c.voxel(block, p)
		}
		blocks[i].Voxels = block
	}
}

// block returns a block in new memory.
func (c coordinates) block(b volume.Vec) []byte {
	block, _ := volume.ReadBlock(context.Background(), c, b)
	return block
}

// blocks returns all blocks by their positions.
func (c coordinates) blocks() map[volume.Vec][]byte {
	all := map[volume.Vec][]byte{}
	for b := range (volume.Box{Max: c.grid.Blocks()}).All() {
		all[b] = c.block(b)
	}
	return all
}

// cubeOf returns the coordinates of a cube of version 1.
func cubeOf(t volume.Type, channels, blockSide, cubeBlocks int) coordinates {
	return coordinates{Header{BlockSide: blockSide, CubeBlocks: cubeBlocks, Type: t, Channels: channels}.Grid()}
}

// checkFlat compares every voxel of the file with src, one at a time.
func checkFlat(t *testing.T, f *File, src coordinates) {
	t.Helper()
	if f.Grid() != src.Grid() {
		t.Fatalf("got the grid %+v, expected %+v", f.Grid(), src.Grid())
	}
	size := src.grid.VoxelBytes()
	var block []byte
	var err error
	var want []byte
	for b := range (volume.Box{Max: src.grid.Blocks()}).All() {
		if block, err = volume.ReadBlock(t.Context(), f, b); err != nil {
			t.Fatal(err)
		}
		box := src.grid.BlockBox(b)
		for p := range box.All() {
			i := size * p.Sub(box.Min).Index(src.grid.Block)
			want = src.voxel(want[:0], p)
			if !bytes.Equal(block[i:i+size], want) {
				t.Fatalf("voxel %v: got % x, expected % x", p, block[i:i+size], want)
			}
		}
	}
}

// literalCube returns the bytes of a cube of version 1 whose blocks are LZ4 literals. So they do not depend on a
// compressor. Blocks start at dataOffset.
func literalCube(src coordinates, dataOffset int) []byte {
	g := src.Grid()
	h := Header{BlockSide: g.Block[0], CubeBlocks: g.Blocks()[0], BlockType: LZ4, Type: g.Type, Channels: g.Channels,
		DataOffset: uint64(dataOffset)}
	file, err := h.MarshalBinary()
	if err != nil {
		panic(err)
	}
	file = append(file, make([]byte, dataOffset-len(file))...)
	for n := range h.blocks() {
		file = append(file, literals(src.block(MortonBlock(n)))...)
		binary.LittleEndian.PutUint64(file[h.TableOffset(n):], uint64(len(file)))
	}
	return file
}

// rawCube returns the bytes of a raw cube of version 1. Blocks start at dataOffset.
func rawCube(src coordinates, dataOffset int) []byte {
	g := src.Grid()
	h := Header{BlockSide: g.Block[0], CubeBlocks: g.Blocks()[0], BlockType: Raw, Type: g.Type, Channels: g.Channels,
		DataOffset: uint64(dataOffset)}
	file, err := h.MarshalBinary()
	if err != nil {
		panic(err)
	}
	file = append(file, make([]byte, dataOffset-len(file))...)
	for n := range h.blocks() {
		file = append(file, src.block(MortonBlock(n))...)
	}
	return file
}

// literals returns an LZ4 block without matches: a token, the length in steps of 255, and the bytes.
func literals(b []byte) []byte {
	n := len(b)
	if n < 15 {
		return append([]byte{byte(n) << 4}, b...)
	}
	out := []byte{0xF0}
	for n -= 15; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(n)), b...)
}

// openBytes opens a cube file in memory.
func openBytes(b []byte) (*File, error) {
	return OpenFile(fstest.MapFS{"x0.wkw": {Data: b}}, "x0.wkw")
}

// writeCube writes src to a new file and opens it.
func writeCube(t *testing.T, bt BlockType, src volume.Source) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x0.wkw")
	if err := WriteCube(t.Context(), path, bt, src); err != nil {
		t.Fatal(err)
	}
	return openPath(t, path)
}

func openPath(t *testing.T, path string) *File {
	t.Helper()
	f, err := OpenFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// bytesOf returns the content of a file.
func bytesOf(t *testing.T, fsys fs.FS, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
