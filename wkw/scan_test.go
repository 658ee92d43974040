package wkw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// TestScan compares the blocks that Scan and Blocks show with those of Block, for boxes of
// all kinds and each way to store a block.
func TestScan(t *testing.T) {
	for _, compression := range []BlockType{Raw, LZ4, LZ4HC} {
		for _, c := range []struct{ side, blocks, channels int }{{1, 1, 1}, {2, 8, 3}, {8, 1, 1}, {8, 4, 1}, {32, 4, 1}} {
			t.Run(fmt.Sprintf("%v, %d³ blocks of %d³", compression, c.blocks, c.side), func(t *testing.T) {
				src := cubeOf(volume.Uint16, c.channels, c.side, c.blocks)
				path := filepath.Join(t.TempDir(), "x0.wkw")
				if err := WriteCube(t.Context(), path, compression, src); err != nil {
					t.Fatal(err)
				}
				file, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				f, err := openBytes(file)
				if err != nil {
					t.Fatal(err)
				}
				rnd := rand.New(rand.NewPCG(1, 2))
				whole := volume.Box{Max: src.grid.Blocks()}
				for i := range 50 {
					box := whole
					for axis := range 3 {
						if i > 0 {
							box.Min[axis] = rnd.IntN(c.blocks)
							box.Max[axis] = box.Min[axis] + rnd.IntN(c.blocks-box.Min[axis]+1)
						}
					}
					agrees(t, f, box, f.scanIn)
					agrees(t, f, box, f.blocksIn)
				}
			})
		}
	}
}

// scanIn is Scan that shows what has come into the memory.
func (f *File) scanIn(ctx context.Context, box volume.Box, use func(volume.Vec, []byte)) error {
	read := map[volume.Vec][]byte{}
	err := f.Scan(ctx, box, func(b volume.Vec) []byte {
		read[b] = make([]byte, f.grid.BlockBytes())
		return read[b]
	})
	for b, block := range read {
		use(b, block)
	}
	return err
}

// blocksIn is Blocks for the blocks of a box, in another order than they are stored.
func (f *File) blocksIn(ctx context.Context, box volume.Box, use func(volume.Vec, []byte)) error {
	bs := slices.Collect(box.All())
	slices.Reverse(bs)
	return f.Blocks(ctx, bs, use)
}

// agrees checks that read shows each block of the box once, as it is.
func agrees(t *testing.T, f *File, box volume.Box, read func(context.Context, volume.Box, func(volume.Vec, []byte)) error) {
	t.Helper()
	missing := map[volume.Vec]bool{}
	for b := range box.All() {
		missing[b] = true
	}
	err := read(t.Context(), box, func(b volume.Vec, block []byte) {
		want, err := f.Block(t.Context(), b)
		if err != nil || !missing[b] || !bytes.Equal(block, want) {
			t.Errorf("box %v, block %v: missing so far: %v; %v", box, b, missing[b], err)
		}
		delete(missing, b)
	})
	if err != nil || len(missing) > 0 {
		t.Errorf("box %v: %v; not shown: %v", box, err, missing)
	}
}

// TestBlocksBelongToTheCaller writes to blocks that were read together: no other one changes.
func TestBlocksBelongToTheCaller(t *testing.T) {
	for _, compression := range []BlockType{Raw, LZ4} {
		src := cubeOf(volume.Uint8, 1, 8, 4)
		path := filepath.Join(t.TempDir(), "x0.wkw")
		if err := WriteCube(t.Context(), path, compression, src); err != nil {
			t.Fatal(err)
		}
		f, err := OpenFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		box := volume.Box{Max: volume.Cube(4)}
		for range 2 {
			agrees(t, f, box, func(ctx context.Context, box volume.Box, use func(volume.Vec, []byte)) error {
				return f.blocksIn(ctx, box, func(b volume.Vec, block []byte) {
					use(b, block)
					clear(block)
				})
			})
		}
	}
}

// TestScanDamaged flips each byte of the header and the jump table of a small cube, and
// cuts it at each byte: Scan and Blocks fail exactly where one of the blocks does, with its error.
func TestScanDamaged(t *testing.T) {
	sound := literalCube(damagedCube, 80)
	check := func(name string, file []byte) {
		f, err := openBytes(file)
		if err != nil {
			return
		}
		box := volume.Box{Max: volume.Cube(2)}
		want := map[string]bool{}
		for b := range box.All() {
			if _, err := f.Block(t.Context(), b); err != nil {
				want[err.Error()] = true
			}
		}
		for _, err := range []error{
			f.scanIn(t.Context(), box, func(volume.Vec, []byte) {}),
			f.blocksIn(t.Context(), box, func(volume.Vec, []byte) {}),
		} {
			if (err != nil) != (len(want) > 0) {
				t.Errorf("%s: %v, expected one of %v", name, err, want)
			}
			var format *FormatError
			if errors.As(err, &format) && !want[err.Error()] {
				t.Errorf("%s: %v, expected one of %v", name, err, want)
			}
		}
	}
	for i := range 80 {
		for _, flip := range []byte{1, 0x80, 0xFF} {
			check(fmt.Sprintf("byte %d xor %#x", i, flip), set(i, sound[i]^flip)(bytes.Clone(sound)))
		}
	}
	for n := range len(sound) {
		check(fmt.Sprintf("cut at %d", n), cut(n)(bytes.Clone(sound)))
	}
}
