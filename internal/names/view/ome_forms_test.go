package view_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
	"github.com/wkwfs/wkwfs/wkw"
)

// TestOMEZarrForms: a mag whose header says LZ4 has a raw cube. The blocks of its chunks are in the container too, as
// they are. The last cubes end after the layer: blocks outside are zeros.
func TestOMEZarrForms(t *testing.T) {
	src := voxeltest.Source{Shape: voxeltest.Grid(volume.Cube(64), volume.Cube(16), volume.Uint16, 1)}
	dir := t.TempDir()
	writeCube(t, dir, "z0/y0/x0.wkw", wkw.LZ4, src)
	writeCube(t, dir, "z0/y0/x1.wkw", wkw.Raw, src)
	// The layer has no voxel of the first block, two of the second, and all that matter of the third.
	properties := `{"dataLayers":[{"name":"color","category":"color","boundingBox":{"topLeft":[0,0,30],"width":128,"height":64,"depth":18}}]}`
	if err := os.WriteFile(filepath.Join(dir, webknossos.PropertiesFile), []byte(properties), 0o644); err != nil {
		t.Fatal(err)
	}
	tree := open(t, dir, ".")
	const block = 16 * 16 * 16 * 2
	for x := range 8 {
		name := fmt.Sprintf("color/ome.zarr/1/0/0/%d", x)
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		if size, streams := bloscBlocks(t, b, 4*block); size != block || (len(streams[2]) == block) != (x >= 4) ||
			len(streams[1]) != block || len(streams[0]) > 50 || len(streams[3]) > 50 {
			t.Errorf("%s: blocks of %d, %d, %d and %d bytes", name, len(streams[0]), len(streams[1]), len(streams[2]),
				len(streams[3]))
		}
		want := make([]byte, 4*block)
		voxels := src.Flat(volume.Box{Min: volume.Vec{x % 4 * 16, 0, 30}, Max: volume.Vec{x%4*16 + 16, 16, 48}})
		copy(want[30*16*16*2:], voxels)
		if !bytes.Equal(decodeChunk(t, b, true, len(want)), want) {
			t.Errorf("%s: other voxels", name)
		}
	}
}

// TestOMEZarrColumns: a chunk is a column of blocks of 128 KiB, or of four blocks of up to 512 KiB, and never of two
// cubes.
func TestOMEZarrColumns(t *testing.T) {
	for _, c := range []struct {
		blockLog, cubeLog, valueType, valueSize byte
		want                                    string
	}{
		{5, 5, 1, 1, "[128 32 32]"}, // uint8
		{5, 5, 2, 2, "[128 32 32]"},
		{5, 5, 3, 4, "[128 32 32]"},
		{5, 5, 4, 8, "[64 32 32]"}, // uint64
		{4, 6, 1, 1, "[512 16 16]"},
		{4, 3, 1, 1, "[128 16 16]"}, // the cube has 128 voxels a side
		{2, 6, 1, 1, "[128 32 32]"},
		{6, 4, 1, 1, "[128 64 64]"},
		{6, 4, 4, 8, "[64 64 64]"},
		{7, 3, 1, 1, "[128 128 128]"},
		{8, 2, 1, 1, "[128 64 64]"},
	} {
		dir := t.TempDir()
		header := []byte{'W', 'K', 'W', 1, c.cubeLog<<4 | c.blockLog, 1, c.valueType, c.valueSize, 16, 0, 0, 0, 0, 0, 0,
			0}
		path := filepath.Join(dir, "color/1/z0/y0/x0.wkw")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, header, 0o644)); err != nil {
			t.Fatal(err)
		}
		a := readArray(t, open(t, dir, "."), "color/ome.zarr/1/.zarray")
		if got := fmt.Sprint(a.Chunks); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestOMEZarrOfEqualLength: c-blosc takes a block whose length is that of its voxels for one that is stored as it is.
// Such a block is decoded.
func TestOMEZarrOfEqualLength(t *testing.T) {
	voxels, equal := equalLength(t)
	dir := t.TempDir()
	cube := []byte{'W', 'K', 'W', 1, 1<<4 | 4, 2, 1, 1, 80, 0, 0, 0, 0, 0, 0, 0} // 2³ blocks of 16³
	end := 80
	for range 8 {
		end += len(equal)
		cube = binary.LittleEndian.AppendUint64(cube, uint64(end))
	}
	cube = append(cube, bytes.Repeat(equal, 8)...)
	path := filepath.Join(dir, "color/1/z0/y0/x0.wkw")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, cube, 0o644)); err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(open(t, dir, "."), "color/ome.zarr/1/0/0/0")
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range second(bloscBlocks(t, b, 2*len(voxels))) {
		if !bytes.Equal(block, voxels) {
			t.Errorf("block %d: %d bytes", i, len(block))
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

// equalLength returns 4096 bytes, and an LZ4 block of 4096 bytes that decodes to them: literals, a match of 20 bytes,
// and literals. Lengths of literals take as many bytes as the match saves.
func equalLength(t *testing.T) (voxels, stored []byte) {
	t.Helper()
	literals := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*i>>3 + i)
		}
		return b
	}
	appendLength := func(b []byte, n int) []byte { // the rest of a length of n ≥ 15
		for n -= 15; n >= 255; n -= 255 {
			b = append(b, 255)
		}
		return append(b, byte(n))
	}
	for match := 19; match < 100; match++ {
		first, rest := 20, 4096-20-match
		b := append(appendLength([]byte{0xFF}, first), literals(first)...)
		b = appendLength(append(b, 1, 0), match-4)
		b = append(appendLength(append(b, 0xF0), rest), literals(rest)...)
		if len(b) == 4096 {
			v := append(literals(first), bytes.Repeat(literals(first)[first-1:], match)...)
			return append(v, literals(rest)...), b
		}
	}
	t.Fatal("there is no such block")
	return nil, nil
}
