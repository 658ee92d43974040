package wkw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestFillDamaged flips each byte of the header and the jump table of a small cube, and some bytes of the blocks, and
// truncates the cube at each byte. Each block of a Fill must have the voxels or the error that it has when it is read
// alone.
func TestFillDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	cuts := 1
	if testing.Short() {
		cuts = 7 // goroutines do the same at each
	}
	sound := literalCube(damagedCube, 80)
	for i := range len(sound) {
		if i < 80 || i%97 == 0 {
			for _, flip := range []byte{1, 0x80, 0xFF} {
				checkAlone(t, fmt.Sprintf("byte %d xor %#x", i, flip), set(i, sound[i]^flip)(bytes.Clone(sound)))
			}
		}
		if i < 100 || i%cuts == 0 {
			checkAlone(t, fmt.Sprintf("cut at %d", i), cut(i)(bytes.Clone(sound)))
		}
	}
	raw := rawCube(damagedCube, 16)
	for i := 0; i < len(raw); i += cuts {
		checkAlone(t, fmt.Sprintf("raw, cut at %d", i), cut(i)(bytes.Clone(raw)))
	}
}

// checkAlone compares the blocks of one Fill with the same blocks when each is read alone.
func checkAlone(t *testing.T, name string, file []byte) {
	f, err := openBytes(file)
	if err != nil {
		return
	}
	alone, err := openBytes(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksIn(volume.Box{Max: f.grid.Blocks()})
	f.Fill(t.Context(), blocks, f.newMemory)
	for _, b := range blocks {
		voxels, err := volume.ReadBlock(t.Context(), alone, b.At)
		if !bytes.Equal(b.Voxels, voxels) || (b.Voxels == nil) == (b.Err == nil) ||
			fmt.Sprint(b.Err) != fmt.Sprint(err) {
			t.Errorf("%s, block %v: got %d bytes, %v\nexpected %d bytes, %v", name, b.At, len(b.Voxels), b.Err,
				len(voxels), err)
		}
	}
}

// TestFillTakesNoMemoryForDamage shows that Fill calls memory only for blocks with a plausible stored size.
func TestFillTakesNoMemoryForDamage(t *testing.T) {
	for _, file := range [][]byte{
		cut(16 + 6*8 + 3)(literalCube(damagedCube, 80)),
		put(24, 80+storedBlock)(literalCube(damagedCube, 80))[:80+storedBlock],
		replaceBlock1([]byte{0x10, 'a', 1, 0}, storedBlock)(literalCube(damagedCube, 80))[:100+storedBlock],
		replaceBlock1(make([]byte, 1045), storedBlock)(literalCube(damagedCube, 80))[:80+storedBlock+1045],
		rawCube(damagedCube, 16)[:16+1024],
	} {
		f, err := openBytes(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := blocksIn(volume.Box{Max: f.grid.Blocks()})
		f.Fill(t.Context(), blocks, func(at volume.Vec) []byte {
			if at != (volume.Vec{}) {
				t.Errorf("%d bytes of a file: memory for block %v", len(file), at)
			}
			return f.newMemory(at)
		})
	}
}

// TestFillCanceled cancels while the first blocks are read. These have voxels, and the others are not read.
func TestFillCanceled(t *testing.T) {
	large := cubeOf(volume.Uint16, 1, 32, 2)
	for _, c := range []struct {
		src  coordinates
		file []byte
		data int64
		read int // blocks that are read before it is canceled
	}{
		// Without the entry of block 2, not all blocks are one run.
		{damagedCube, put(32, 80+2*storedBlock)(literalCube(damagedCube, 80)), 80, 2},
		{damagedCube, rawCube(damagedCube, 16), 16, 8},
		{large, rawCube(large, 16), 16, 1},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		below := inMemory(t, c.file)
		good, reads := below.ReaderAt, 0
		below.ReaderAt = readerFunc(func(p []byte, offset int64) (int, error) {
			if offset >= c.data {
				reads++
				cancel()
			}
			return good.ReadAt(p, offset)
		})
		f, err := NewFile(below, "x0.wkw")
		if err != nil {
			t.Fatal(err)
		}
		blocks := blocksIn(volume.Box{Max: volume.Cube(2)})
		f.Fill(ctx, blocks, f.newMemory)
		for i, b := range blocks {
			var format *volume.FormatError
			switch {
			case i < c.read && (b.Err != nil || !bytes.Equal(b.Voxels, c.src.block(b.At))):
				t.Errorf("block %v: %v", b.At, b.Err)
			case i >= c.read && (b.Voxels != nil || !errors.Is(b.Err, context.Canceled) && !errors.As(b.Err, &format)):
				t.Errorf("block %v: got %v", b.At, b.Err)
			}
		}
		if reads != 1 {
			t.Errorf("%d reads", reads)
		}
	}
}

// TestFillBadSector shows that unreadable bytes affect only their blocks, although many blocks and entries of the jump
// table are read together.
func TestFillBadSector(t *testing.T) {
	broken := errors.New("disk on fire")
	large := cubeOf(volume.Uint16, 1, 32, 2)
	for _, c := range []struct {
		name string
		src  coordinates
		file []byte
		bad  int64             // the byte
		want map[uint64]string // by Morton index
	}{
		{"data", damagedCube, literalCube(damagedCube, 80), 80 + 3*storedBlock, map[uint64]string{
			3: "x0.wkw: block 1,1,0 at byte 3167: disk on fire"}},
		{"raw data", damagedCube, rawCube(damagedCube, 16), 16 + 2*1024 - 1, map[uint64]string{
			1: "x0.wkw: block 1,0,0 at byte 1040: disk on fire"}},
		{"raw data, large blocks", large, rawCube(large, 16), 16 + 2*65536 - 1, map[uint64]string{
			1: "x0.wkw: block 1,0,0 at byte 65552: disk on fire"}},
		{"table", damagedCube, literalCube(damagedCube, 80), 16 + 5*8, map[uint64]string{
			5: "x0.wkw: block 1,0,1 at byte 48: disk on fire",
			6: "x0.wkw: block 0,1,1 at byte 56: disk on fire"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			below := inMemory(t, c.file)
			good := below.ReaderAt
			below.ReaderAt = readerFunc(func(p []byte, offset int64) (int, error) {
				if offset <= c.bad && c.bad < offset+int64(len(p)) {
					return 0, broken
				}
				return good.ReadAt(p, offset)
			})
			f, err := NewFile(below, "x0.wkw")
			if err != nil {
				t.Fatal(err)
			}
			blocks := blocksIn(volume.Box{Max: volume.Cube(2)})
			f.Fill(t.Context(), blocks, f.newMemory)
			for i, b := range blocks {
				want, bad := c.want[uint64(i)]
				switch {
				case bad && (b.Voxels != nil || !errors.Is(b.Err, broken) || b.Err.Error() != want):
					t.Errorf("got %v\nexpected %s", b.Err, want)
				case !bad && (b.Err != nil || !bytes.Equal(b.Voxels, c.src.block(b.At))):
					t.Errorf("block %v: %v", b.At, b.Err)
				}
			}
		})
	}
}

// TestFillChanged shows that all blocks fail if the file changed, also blocks that are not in the cube.
func TestFillChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x0.wkw")
	if err := os.WriteFile(path, literalCube(damagedCube, 80), 0o666); err != nil {
		t.Fatal(err)
	}
	f := openPath(t, path)
	checkFill(t, f, damagedCube.blocks(), volume.Box{Max: volume.Cube(2)}, nil)
	if err := os.Truncate(path, 80+6*storedBlock); err != nil {
		t.Fatal(err)
	}
	blocks := blocksIn(volume.Box{Max: volume.Cube(3)})
	f.Fill(t.Context(), blocks, f.newMemory)
	for _, b := range blocks {
		want := fmt.Sprintf("x0.wkw: block %v: the file changed while it was open", b.At)
		if b.Voxels != nil || !errors.Is(b.Err, vfs.ErrChanged) || b.Err.Error() != want {
			t.Errorf("got %v\nexpected %s", b.Err, want)
		}
	}
}
