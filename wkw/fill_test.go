package wkw

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// blocksIn returns the blocks of a box, with results that Fill must replace.
func blocksIn(box volume.Box) []volume.Block {
	var blocks []volume.Block
	for at := range box.All() {
		blocks = append(blocks, volume.Block{At: at, Voxels: []byte("old"), Err: errors.New("old")})
	}
	return blocks
}

// newMemory returns a function for Fill that allocates memory for each block.
func (f *File) newMemory(volume.Vec) []byte { return make([]byte, f.grid.BlockBytes()) }

// TestFill compares blocks with the coordinates that they encode, for boxes of many shapes, in any order, and for each
// block type.
func TestFill(t *testing.T) {
	for _, compression := range []BlockType{Raw, LZ4, LZ4HC} {
		for _, c := range []struct{ side, blocks, channels int }{{1, 1, 1}, {2, 8, 3}, {8, 1, 1}, {8, 4, 1},
			{32, 4, 1}} {
			t.Run(fmt.Sprintf("%v, %d³ blocks of %d³", compression, c.blocks, c.side), func(t *testing.T) {
				src := cubeOf(volume.Uint16, c.channels, c.side, c.blocks)
				f, want := writeCube(t, compression, src), src.blocks()
				rnd := rand.New(rand.NewPCG(1, 2))
				for i := range 50 {
					box := volume.Box{Max: src.grid.Blocks()}
					for axis := range 3 {
						if i > 0 {
							box.Min[axis] = rnd.IntN(c.blocks)
							box.Max[axis] = box.Min[axis] + rnd.IntN(c.blocks-box.Min[axis]+1)
						}
					}
					checkFill(t, f, want, box, nil)
					checkFill(t, f, want, box, rnd)
				}
			})
		}
	}
}

// checkFill fills the blocks of a box, shuffled if random is not nil. Each must be decoded once, into its own memory.
func checkFill(t *testing.T, f *File, want map[volume.Vec][]byte, box volume.Box, rnd *rand.Rand) {
	t.Helper()
	blocks := blocksIn(box)
	n := len(blocks)
	if rnd != nil {
		rnd.Shuffle(n, func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	}
	memory := map[volume.Vec][]byte{}
	f.Fill(t.Context(), blocks, func(at volume.Vec) []byte {
		if memory[at] != nil || !at.In(f.grid.Blocks()) {
			t.Errorf("box %v: memory for block %v", box, at)
		}
		memory[at] = f.newMemory(at)
		return memory[at]
	})
	seen := map[volume.Vec]bool{}
	for _, b := range blocks {
		if b.Err != nil || !bytes.Equal(b.Voxels, want[b.At]) || &b.Voxels[0] != &memory[b.At][0] {
			t.Fatalf("box %v, block %v: %v", box, b.At, b.Err)
		}
		if seen[b.At] || !b.At.In(box.Max) {
			t.Errorf("box %v: got block %v", box, b.At)
		}
		seen[b.At] = true
	}
	if len(seen) != n {
		t.Errorf("box %v: got %d blocks, expected %d", box, len(seen), n)
	}
}

// TestFillOutside shows that each block outside of the cube has an error, and that all others are read.
func TestFillOutside(t *testing.T) {
	f, err := openBytes(literalCube(damagedCube, 80))
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksIn(volume.Box{Min: volume.Cube(-1), Max: volume.Cube(3)})
	f.Fill(t.Context(), blocks, f.newMemory)
	for _, b := range blocks {
		want := fmt.Sprintf("x0.wkw: block %v: the cube has 2,2,2 blocks", b.At)
		switch inside := b.At.In(volume.Cube(2)); {
		case inside && (b.Err != nil || !bytes.Equal(b.Voxels, damagedCube.block(b.At))):
			t.Errorf("block %v: %v", b.At, b.Err)
		case !inside && (b.Voxels != nil || b.Err == nil || b.Err.Error() != want):
			t.Errorf("got %v\nexpected %s", b.Err, want)
		}
	}
	f.Fill(t.Context(), nil, nil)
}

// counted is a reader that records its reads.
type counted struct {
	io.ReaderAt
	reads []extent
}

func (c *counted) ReadAt(p []byte, offset int64) (int, error) {
	c.reads = append(c.reads, extent{offset, int64(len(p))})
	return c.ReaderAt.ReadAt(p, offset)
}

// TestFillReadsRuns shows that adjacent blocks are read together, and the jump table once.
func TestFillReadsRuns(t *testing.T) {
	below := inMemory(t, literalCube(damagedCube, 80))
	reader := &counted{ReaderAt: below.ReaderAt}
	below.ReaderAt = reader
	f, err := NewFile(below, "x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	header, table := extent{0, HeaderSize}, extent{8, 72}
	for _, c := range []struct {
		box  volume.Box
		want []extent
	}{
		{volume.Box{Max: volume.Vec{2, 1, 1}}, []extent{header, table, {80, 2 * storedBlock}}},
		{volume.Box{Max: volume.Vec{2, 1, 1}}, []extent{{80, 2 * storedBlock}}},
		{volume.Box{Max: volume.Cube(2)}, []extent{{80, 8 * storedBlock}}},
		{volume.Box{Max: volume.Vec{1, 2, 2}}, []extent{{80, storedBlock}, {2138, storedBlock}, {4196, storedBlock},
			{6254, storedBlock}}},
	} {
		checkFill(t, f, damagedCube.blocks(), c.box, nil)
		if fmt.Sprint(reader.reads) != fmt.Sprint(c.want) {
			t.Errorf("box %v: got %v, expected %v", c.box, reader.reads, c.want)
		}
		reader.reads = nil
	}
}

// TestFillBatches reads blocks that exceed a batch, alone or together.
func TestFillBatches(t *testing.T) {
	for _, src := range []coordinates{cubeOf(volume.Uint16, 1, 32, 4), cubeOf(volume.Uint64, 1, 64, 2)} {
		file := literalCube(src, HeaderSize+8*64)
		if len(file) < 3*maxBatch {
			t.Fatalf("%d bytes are too few", len(file))
		}
		f, err := openBytes(file)
		if err != nil {
			t.Fatal(err)
		}
		checkFill(t, f, src.blocks(), volume.Box{Max: src.grid.Blocks()}, rand.New(rand.NewPCG(1, 2)))
	}
}

// late is an open file of a source that answers late.
type late struct{ *file }

func (late) Speed() vfs.Speed { return vfs.Speed{Late: true} }

// TestFillBatchSize shows that a source that is not late is read in batches that fit into the processor's cache, with
// whole pairs of blocks, and a late source in batches of up to maxBatch.
func TestFillBatchSize(t *testing.T) {
	for _, c := range []struct {
		src          coordinates
		prompt, late []int // first blocks of the batches
	}{
		{cubeOf(volume.Uint8, 1, 32, 2), []int{0, 4}, []int{0}},
		{cubeOf(volume.Uint16, 1, 32, 2), []int{0, 2, 4, 6}, []int{0}},
		{cubeOf(volume.Uint8, 1, 64, 2), []int{0, 2, 4, 6}, []int{0, 3, 6}},
		{cubeOf(volume.Uint64, 1, 64, 2), []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		below := inMemory(t, literalCube(c.src, HeaderSize+8*8))
		for want, file := range map[*[]int]fs.File{&c.prompt: below, &c.late: late{below}} {
			f, err := NewFile(file, "x0.wkw")
			if err != nil {
				t.Fatal(err)
			}
			s := &filler{ctx: t.Context(), file: f, blocks: blocksIn(volume.Box{Max: volume.Cube(2)})}
			s.most = s.maxBatch()
			s.sort()
			s.locate()
			var got []int
			for next := 0; next < len(s.blocks); next = s.batchEnd(next) {
				got = append(got, next)
			}
			if !slices.Equal(got, *want) {
				t.Errorf("blocks of %d bytes: got batches from %v, expected %v", f.grid.BlockBytes(), got, *want)
			}
		}
	}
}

// TestFillNeedsNoMemory shows that a reused filler allocates nothing.
func TestFillNeedsNoMemory(t *testing.T) {
	for _, bt := range []BlockType{Raw, LZ4} {
		for _, side := range []int{8, 32} {
			f := writeCube(t, bt, cubeOf(volume.Uint8, 1, side, 4))
			voxels, blocks := f.newMemory(volume.Vec{}), blocksIn(volume.Box{Max: volume.Vec{4, 4, 1}})
			memory := func(volume.Vec) []byte { return voxels }
			s := new(filler)
			if n := testing.AllocsPerRun(10, func() { s.fill(t.Context(), f, f.inside(blocks), memory) }); n > 0 {
				t.Errorf("%v, blocks of %d³: %v allocations", bt, side, n)
			}
		}
	}
}

// removed is a late file whose source becomes distant with each read of a block.
type removed struct {
	late
	distant bool
}

func (f *removed) ReadAt(p []byte, offset int64) (int, error) {
	f.distant = len(p) >= 32<<10
	return f.late.ReadAt(p, offset)
}

func (f *removed) Speed() vfs.Speed {
	s := f.late.Speed()
	if f.distant {
		s.Long = 512 << 10
	}
	return s
}

// TestFillDistant: a source may become distant while a Fill reads batches of ranges that are not adjacent.
func TestFillDistant(t *testing.T) {
	src := cubeOf(volume.Uint8, 1, 32, 8)
	below := &removed{late: late{inMemory(t, literalCube(src, HeaderSize+8*512))}}
	f, err := NewFile(below, "x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	below.distant = false
	checkFill(t, f, src.blocks(), volume.Box{Max: volume.Vec{1, 8, 8}}, nil)
	if !below.distant {
		t.Error("the source is not distant")
	}
}
