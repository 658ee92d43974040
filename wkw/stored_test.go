package wkw

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// TestAppendLZ4 damages a small cube in all ways of TestFillDamaged. The LZ4 block of a block decodes to the voxels of the block,
// or has the error of the block.
func TestAppendLZ4(t *testing.T) {
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
	for b := range (volume.Box{Max: f.grid.Blocks()}).All() {
		want, wantErr := volume.ReadBlock(t.Context(), f, b)
		got, err := f.AppendLZ4(t.Context(), []byte("head"), b)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s, block %v: got %v\nexpected %v", name, b, err, wantErr)
		}
		if string(got[:4]) != "head" {
			t.Errorf("%s, block %v: starts with %q", name, b, got[:4])
		}
		if err != nil {
			continue
		}
		voxels := make([]byte, f.grid.BlockBytes())
		if err := lz4block.Decode(voxels, got[4:]); err != nil || !bytes.Equal(voxels, want) {
			t.Errorf("%s, block %v: other voxels, %v", name, b, err)
		}
		if size, err := f.LZ4Size(b); err != nil || size != int64(len(got)-4) {
			t.Errorf("%s, block %v: LZ4Size %d, %v; expected %d", name, b, size, err, len(got)-4)
		}
	}
}

func TestAppendLZ4OfRawCube(t *testing.T) {
	f, err := openBytes(rawCube(damagedCube, 16))
	if err != nil {
		t.Fatal(err)
	}
	if size, err := f.LZ4Size(volume.Vec{}); size != 0 || err != nil {
		t.Errorf("LZ4Size: got %d, %v; expected 0", size, err)
	}
	if got, err := f.AppendLZ4(t.Context(), nil, volume.Vec{}); err == nil || len(got) != 0 {
		t.Errorf("AppendLZ4: got %d bytes, %v; expected an error", len(got), err)
	}
}

// BenchmarkAppendLZ4 compares reading stored blocks from the page cache with and without decoding them to find damage.
func BenchmarkAppendLZ4(b *testing.B) {
	f := benchCube(b, LZ4)
	for name, read := range map[string]func(dst []byte, at volume.Vec) ([]byte, error){
		"stored":  func(dst []byte, at volume.Vec) ([]byte, error) { return f.AppendStored(b.Context(), dst, at) },
		"checked": func(dst []byte, at volume.Vec) ([]byte, error) { return f.AppendLZ4(b.Context(), dst, at) },
	} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			for i := 0; b.Loop(); i++ {
				var err error
				if dst, err = read(dst[:0], volume.Vec{i % benchSide, i / benchSide % benchSide, 0}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(f.grid.BlockBytes()))
		})
	}
}
