package view_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// TestOMEZarr reads all chunks of the OME-Zarr views of several layers, and compares them with the model.
func TestOMEZarr(t *testing.T) {
	for _, c := range []struct {
		block, channels int
		value           volume.Type
		category        string
		wantChunk       string
		wantBlosc       bool
	}{
		{16, 1, volume.Uint8, "color", "[64 16 16]", true},
		{16, 1, volume.Uint32, "segmentation", "[64 16 16]", true},
		{32, 1, volume.Float64, "color", "[64 32 32]", true},
		{64, 1, volume.Uint16, "color", "[64 64 64]", true},
		{4, 1, volume.Uint16, "color", "[64 32 32]", false},
		{4, 3, volume.Uint8, "color", "[1 64 32 32]", false},
		{32, 2, volume.Int64, "color", "[1 64 32 32]", false},
	} {
		if testing.Short() && c.value != volume.Uint8 {
			continue
		}
		t.Run(fmt.Sprintf("%v³ of %d × %v", c.block, c.channels, c.value), func(t *testing.T) {
			src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(c.block), c.value, c.channels)}
			tree := open(t, writeLayer(t, src, c.category, []string{"z0/y0/x0.wkw", "z1/y0/x1.wkw"}), ".")
			a := readArray(t, tree, "color/ome.zarr/1/.zarray")
			if fmt.Sprint(a.Chunks) != c.wantChunk || (a.Compressor != nil) != c.wantBlosc ||
				a.Dtype != c.value.Descr() {
				t.Errorf("got chunks %v, compressor %v, type %s", a.Chunks, a.Compressor, a.Dtype)
			}
			want := []int{110, 60, 105}
			if c.channels > 1 {
				want = []int{c.channels, 110, 60, 105}
			}
			if fmt.Sprint(a.Shape) != fmt.Sprint(want) {
				t.Errorf("shape: got %v, expected %v", a.Shape, want)
			}
			compareOME(t, tree, "color/ome.zarr/1", a, src)
			compareOME(t, tree, "color/ome-v3.zarr/1/c", a, src)
		})
	}
}

// arrayV2 is .zarray.
type arrayV2 struct {
	Shape, Chunks []int
	Dtype         string
	Compressor    *struct{ ID string }
}

func readArray(t *testing.T, tree fs.FS, name string) (a arrayV2) {
	t.Helper()
	b, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return a
}

// present reports whether a voxel of writeLayer's layer is stored.
func present(at volume.Vec) bool {
	bounds := volume.Box{Min: volume.Vec{5, 20, 33}, Max: volume.Vec{105, 60, 110}}
	cube := at.Div(volume.Cube(64))
	return (cube == volume.Vec{} || cube == volume.Vec{1, 0, 1}) && at.In(bounds.Max) && bounds.Contains(at)
}

// compareOME compares the chunks below dir with the model: the listed ones, and those that can be opened.
func compareOME(t *testing.T, tree fs.FS, dir string, a arrayV2, src voxeltest.Source) {
	t.Helper()
	listed := map[string]bool{}
	err := fs.WalkDir(tree, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Base(name)[0] != '.' {
			listed[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	size, rank := src.Shape.Type.Size(), len(a.Shape)
	chunk := volume.Vec{a.Chunks[rank-1], a.Chunks[rank-2], a.Chunks[rank-3]}
	shape := volume.Vec{a.Shape[rank-1], a.Shape[rank-2], a.Shape[rank-3]}
	for c := range (volume.Box{Max: shape.CeilDiv(chunk)}).All() {
		box := c.BoxOfOne().Mul(chunk)
		for channel := range src.Shape.Channels {
			name := fmt.Sprintf("%s/%d/%d/%d", dir, c[2], c[1], c[0])
			if src.Shape.Channels > 1 {
				name = fmt.Sprintf("%s/%d/%d/%d/%d", dir, channel, c[2], c[1], c[0])
			}
			want, exists := wantChunk(src, channel, box)
			if listed[name] != exists {
				t.Errorf("%s: listed: %t", name, listed[name])
			}
			stored, err := fs.ReadFile(tree, name)
			info, statErr := fs.Stat(tree, name)
			if !exists {
				if !errors.Is(err, fs.ErrNotExist) || !errors.Is(statErr, fs.ErrNotExist) {
					t.Errorf("%s: %v, %v; expected that it does not exist", name, err, statErr)
				}
				continue
			}
			if err != nil || statErr != nil || info.Size() != int64(len(stored)) {
				t.Fatalf("%s: read %d bytes, %v; stat %v", name, len(stored), err, statErr)
			}
			compareInside(t, name, decodeChunk(t, stored, a.Compressor != nil, len(want)), want, size, box, shape)
		}
	}
	for _, name := range []string{"0/0", "99", "0/0/99", "0/0/0/0/0", "00/0/0", "-1/0/0", "x", "0/0/0.raw",
		"zarr.json/0"} {
		if f, err := fs.ReadFile(tree, path.Join(dir, name)); err == nil {
			t.Errorf("%s has %d bytes", name, len(f))
		}
	}
}

// wantChunk returns the voxels of a channel in a box, and whether a cube has one of them.
func wantChunk(src voxeltest.Source, channel int, box volume.Box) (want []byte, exists bool) {
	size := src.Shape.Type.Size()
	for at := range box.All() {
		stored := present(at)
		exists = exists || stored
		for i := range size {
			v := byte(0)
			if stored {
				v = voxeltest.ByteAt(at.Sub(at.Div(volume.Cube(64)).Mul(volume.Cube(64))), channel*size+i)
			}
			want = append(want, v)
		}
	}
	return want, exists
}

// compareInside compares the voxels of a chunk inside of the array. What the chunk has outside is not read.
func compareInside(t *testing.T, name string, got, want []byte, size int, box volume.Box, shape volume.Vec) {
	t.Helper()
	i := 0
	for at := range box.All() {
		if at.In(shape) && !bytes.Equal(got[i:i+size], want[i:i+size]) {
			t.Fatalf("%s: voxel %v: got %v, expected %v", name, at, got[i:i+size], want[i:i+size])
		}
		i += size
	}
}

// decodeChunk decodes a chunk as c-blosc does.
func decodeChunk(t *testing.T, b []byte, blosc bool, n int) []byte {
	t.Helper()
	if !blosc {
		if len(b) != n {
			t.Fatalf("%d bytes, expected %d", len(b), n)
		}
		return b
	}
	var voxels []byte
	block, streams := bloscBlocks(t, b, n)
	for _, stream := range streams {
		if len(stream) == block {
			voxels = append(voxels, stream...)
			continue
		}
		decoded := make([]byte, block)
		if got, err := lz4.UncompressBlock(stream, decoded); err != nil || got != block {
			t.Fatalf("LZ4: %d bytes, %v", got, err)
		}
		voxels = append(voxels, decoded...)
	}
	return voxels
}

// bloscBlocks checks the container of n decoded bytes. It returns the decoded length of a block, and what is stored for
// each.
func bloscBlocks(t *testing.T, b []byte, n int) (block int, streams [][]byte) {
	t.Helper()
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	block = u32(8)
	if b[0] != 2 || b[1] != 1 || b[2] != 0x30 || u32(4) != n || u32(12) != len(b) || block == 0 || n%block != 0 {
		t.Fatalf("header % x of %d bytes", b[:16], len(b))
	}
	end := 16 + 4*(n/block)
	for i := range n / block {
		if u32(16+4*i) != end { // a block follows the one before it
			t.Fatalf("block %d starts at %d, expected %d", i, u32(16+4*i), end)
		}
		start := end + 4
		end = start + u32(end)
		streams = append(streams, b[start:end])
	}
	if end != len(b) {
		t.Fatalf("%d bytes, and the last block ends at %d", len(b), end)
	}
	return block, streams
}
