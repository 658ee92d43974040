package wkw

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// TestFillLZ4 damages a small cube in all ways of TestFillDamaged. The LZ4 block of a block decodes to the voxels of
// the block, or the block has the error of Fill.
func TestFillLZ4(t *testing.T) {
	sound := literalCube(damagedCube, 80)
	checkLZ4(t, "sound", sound)
	for i := range len(sound) {
		if i < 80 || i%97 == 0 {
			for _, flip := range []byte{1, 0x80, 0xFF} {
				checkLZ4(t, fmt.Sprintf("byte %d xor %#x", i, flip), set(i, sound[i]^flip)(bytes.Clone(sound)))
			}
		}
		checkLZ4(t, fmt.Sprintf("cut at %d", i), cut(i)(bytes.Clone(sound)))
	}
}

func checkLZ4(t *testing.T, name string, file []byte) {
	t.Helper()
	f, err := openBytes(file)
	if err != nil || f.header.BlockType == Raw {
		return
	}
	var blocks []volume.Block
	sizes := map[volume.Vec]int64{}
	for b := range (volume.Box{Max: f.grid.Blocks()}).All() {
		blocks = append(blocks, volume.Block{At: b})
		if size, err := f.LZ4Sizes([]volume.Vec{b}); err == nil {
			sizes[b] = size[0]
		}
	}
	f.FillLZ4(t.Context(), blocks, func(at volume.Vec) []byte { return make([]byte, sizes[at]) })
	for _, b := range blocks {
		want, wantErr := volume.ReadBlock(t.Context(), f, b.At)
		if fmt.Sprint(b.Err) != fmt.Sprint(wantErr) {
			t.Errorf("%s, block %v: got %v\nexpected %v", name, b.At, b.Err, wantErr)
		}
		if b.Err != nil {
			continue
		}
		voxels := make([]byte, f.grid.BlockBytes())
		if err := lz4block.Decode(voxels, b.Voxels); err != nil || !bytes.Equal(voxels, want) {
			t.Errorf("%s, block %v: other voxels, %v", name, b.At, err)
		}
	}
}

// TestFillLZ4AfterFill: a Fill after FillLZ4 returns voxels again, and memory of another length has the error of a file
// that changed.
func TestFillLZ4AfterFill(t *testing.T) {
	f, err := openBytes(literalCube(damagedCube, 80))
	if err != nil {
		t.Fatal(err)
	}
	blocks := []volume.Block{{At: volume.Vec{}}, {At: volume.Vec{1, 0, 1}}}
	f.FillLZ4(t.Context(), blocks, func(volume.Vec) []byte { return make([]byte, 3) })
	for _, b := range blocks {
		if !errors.Is(b.Err, volume.ErrChanged) || b.Voxels != nil {
			t.Errorf("block %v: %d bytes, %v", b.At, len(b.Voxels), b.Err)
		}
	}
	checkFill(t, f, damagedCube.blocks(), volume.Box{Max: f.grid.Blocks()}, nil)
}

// TestLZ4Sizes asks for several blocks at a time. A block outside of the cube is an error.
func TestLZ4Sizes(t *testing.T) {
	f, err := openBytes(literalCube(damagedCube, 80))
	if err != nil {
		t.Fatal(err)
	}
	at := []volume.Vec{{1, 1, 0}, {0, 0, 1}}
	sizes, err := f.LZ4Sizes(at)
	if err != nil || len(sizes) != len(at) {
		t.Fatalf("got %v, %v", sizes, err)
	}
	for i, b := range at {
		if want, err := f.StoredSize(b); err != nil || sizes[i] != want {
			t.Errorf("block %v: got %d, expected %d, %v", b, sizes[i], want, err)
		}
	}
	if sizes, err := f.LZ4Sizes(append(at, f.grid.Blocks())); err == nil {
		t.Errorf("outside: got %v", sizes)
	}
}

func TestFillLZ4OfRawCube(t *testing.T) {
	f, err := openBytes(rawCube(damagedCube, 16))
	if err != nil {
		t.Fatal(err)
	}
	if sizes, err := f.LZ4Sizes([]volume.Vec{{}}); sizes != nil || err != nil {
		t.Errorf("LZ4Sizes: got %v, %v; expected none", sizes, err)
	}
	blocks := []volume.Block{{}}
	if f.FillLZ4(t.Context(), blocks, func(volume.Vec) []byte { return nil }); blocks[0].Err == nil {
		t.Error("FillLZ4: expected an error")
	}
}

// BenchmarkFillLZ4 compares reading the stored blocks of a column from the page cache with and without decoding them to
// find damage.
func BenchmarkFillLZ4(b *testing.B) {
	f := benchCube(b, LZ4)
	const column = 8
	var blocks [column]volume.Block
	var memory [column][]byte
	for i := range memory {
		memory[i] = make([]byte, 0, 2*f.grid.BlockBytes())
	}
	for name, read := range map[string]func() error{
		"stored": func() error {
			for z, block := range blocks {
				if _, err := f.AppendStored(b.Context(), memory[z], block.At); err != nil {
					return err
				}
			}
			return nil
		},
		"checked": func() error {
			var at [column]volume.Vec
			for z, block := range blocks {
				at[z] = block.At
			}
			sizes, err := f.LZ4Sizes(at[:])
			if err != nil {
				return err
			}
			f.FillLZ4(b.Context(), blocks[:], func(at volume.Vec) []byte { return memory[at[2]][:sizes[at[2]]] })
			return blocks[0].Err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				for z := range blocks {
					blocks[z].At = volume.Vec{i % benchSide, i / benchSide % benchSide, z}
				}
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(column * f.grid.BlockBytes()))
		})
	}
}
