package wkw

import (
	"errors"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// checkRobust reads all blocks. Each must be complete, or its error must be a volume.FormatError. The results must be
// the same for blocks that are read together and one by one, and as they are stored.
func checkRobust(t *testing.T, file []byte) {
	f, err := openBytes(file)
	if err != nil {
		return
	}
	for b := range (volume.Box{Max: f.Grid().Blocks()}).All() {
		size, sizeErr := f.StoredSize(b)
		block, err := volume.ReadBlock(t.Context(), f, b)
		if err == nil && (len(block) != f.Grid().BlockBytes() || sizeErr != nil || size < 1 ||
			size > int64(len(file))) {
			t.Fatalf("block %v: %d bytes, stored %d, %v", b, len(block), size, sizeErr)
		}
		if _, is := errors.AsType[*volume.FormatError](err); err != nil && !is {
			t.Fatalf("block %v: %v", b, err)
		}
	}
	checkAlone(t, "all", file)
	checkLZ4(t, "all", file)
}

// FuzzJumpTable reads cubes with any table, data offset and length.
func FuzzJumpTable(f *testing.F) {
	cube := literalCube(cubeOf(volume.Uint8, 1, 2, 2), 80)
	f.Add(cube[8:80], uint16(len(cube)))
	f.Add(cube[8:80], uint16(len(cube)-1))
	f.Add(put(16, 1<<63)(slices.Clone(cube))[8:80], uint16(70))
	f.Add([]byte{80, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, uint16(500))
	f.Fuzz(func(t *testing.T, table []byte, size uint16) {
		file := slices.Clone(cube)
		copy(file[8:80], table)
		if int(size) < len(file) {
			file = file[:size]
		}
		checkRobust(t, file)
	})
}

// FuzzBlock reads cubes with any stored bytes of a block.
func FuzzBlock(f *testing.F) {
	block := cubeOf(volume.Uint8, 1, 8, 1).block(volume.Vec{})
	for _, bt := range []BlockType{LZ4, LZ4HC} {
		h := Header{BlockSide: 8, CubeBlocks: 1, BlockType: bt, Type: volume.Uint8, Channels: 1}
		stored, err := NewEncoder(h).Encode(nil, block)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stored)
		f.Add(stored[:len(stored)/2])
	}
	f.Add(literals(block))
	f.Add([]byte{})
	f.Add([]byte{0x1F, 0, 1, 0, 255, 255, 255})
	f.Fuzz(func(t *testing.T, stored []byte) {
		file := put(16, uint64(24+len(stored)))(append(header(0x03, 2, 1, 1, 24), make([]byte, 8)...))
		checkRobust(t, append(file, stored...))
	})
}
