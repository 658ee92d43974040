package wkw

import (
	"encoding/binary"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// largeTable returns a cube of 64³ blocks of one voxel, and its reader. The value of a voxel is the Morton index of its
// block. The table has 8 times the chunks that a file keeps.
func largeTable(t *testing.T) (*File, *counted) {
	t.Helper()
	return tableOf(t, 64, false)
}

// tableOf is largeTable for a cube of side³ blocks, whose source takes as long for longRead bytes as for one.
func tableOf(t *testing.T, side int, isLate bool) (*File, *counted) {
	t.Helper()
	h := Header{BlockSide: 1, CubeBlocks: side, BlockType: LZ4, Type: volume.Uint64, Channels: 1}
	h.DataOffset = HeaderSize + 8*h.blocks()
	file, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for n := range h.blocks() {
		data = append(data, literals(binary.LittleEndian.AppendUint64(nil, n))...)
		file = binary.LittleEndian.AppendUint64(file, h.DataOffset+uint64(len(data)))
	}
	below := inMemory(t, append(file, data...))
	reader := &counted{ReaderAt: below.ReaderAt}
	below.ReaderAt = reader
	var opened fs.File = below
	if isLate {
		opened = late{below}
	}
	f, err := NewFile(opened, "x0.wkw")
	if err != nil {
		t.Fatal(err)
	}
	return f, reader
}

// TestTableComesWithHeader checks that the jump table is read together with the header, as far as it is kept, if the
// source is late. What follows the table in the same read is no part of it.
func TestTableComesWithHeader(t *testing.T) {
	for _, test := range []struct {
		side, reads int
		late        bool
	}{
		{8, 1, false}, {8, 0, true}, {32, 0, true}, {64, 1, true},
	} {
		f, reader := tableOf(t, test.side, test.late)
		last := f.header.blocks() - 1
		for _, n := range []uint64{0, min(maxChunks*chunkEntries-1, last), last} {
			blocks := []volume.Block{{At: MortonBlock(n)}}
			f.Fill(t.Context(), blocks, f.newMemory)
			if err := blocks[0].Err; err != nil || binary.LittleEndian.Uint64(blocks[0].Voxels) != n {
				t.Errorf("%+v: block %d: % x, %v", test, n, blocks[0].Voxels, err)
			}
		}
		if n := reader.tableReads(f); n != test.reads {
			t.Errorf("%+v: the table was read %d times", test, n)
		}
	}
}

// tableReads returns how often the jump table was read.
func (c *counted) tableReads(f *File) (n int) {
	for _, r := range c.reads {
		if r.offset > 0 && r.offset < int64(f.header.DataOffset) {
			n++
		}
	}
	c.reads = nil
	return n
}

// TestTableIsKept shows that a chunk of the table is read once, until another chunk needs its slot.
func TestTableIsKept(t *testing.T) {
	f, reader := largeTable(t)
	read := func(first, n uint64) {
		t.Helper()
		blocks := make([]volume.Block, n)
		for i := range blocks {
			blocks[i].At = MortonBlock(first + uint64(i))
		}
		f.Fill(t.Context(), blocks, f.newMemory)
		for i, b := range blocks {
			if b.Err != nil || binary.LittleEndian.Uint64(b.Voxels) != first+uint64(i) {
				t.Fatalf("block %d: % x, %v", first+uint64(i), b.Voxels, b.Err)
			}
		}
	}
	all := f.header.blocks()
	for _, c := range []struct {
		name     string
		first, n uint64
		want     int
	}{
		{"one block", 100, 1, 1},
		{"its chunk", 0, chunkEntries, 0},
		{"across two chunks", chunkEntries - 1, 2, 1},
		{"chunks in memory", 0, maxChunks * chunkEntries, maxChunks - 2},
		{"the same", 0, maxChunks * chunkEntries, 0},
		{"the chunk after these", maxChunks * chunkEntries, chunkEntries, 1},
		{"the chunk that had its slot", 0, 1, 1},
		{"the last block", all - 1, 1, 1},
		{"chunks that are not in memory", 0, all, int(all/chunkEntries) - maxChunks},
	} {
		read(c.first, c.n)
		if got := reader.tableReads(f); got != c.want {
			t.Errorf("%s: %d reads of the table, expected %d", c.name, got, c.want)
		}
	}
	if len(f.table) != maxChunks {
		t.Errorf("%d slots", len(f.table))
	}
}

// TestTableOfSmallCubes shows that a small table has a small chunk, and a raw cube has none.
func TestTableOfSmallCubes(t *testing.T) {
	f := writeCube(t, LZ4, cubeOf(volume.Uint8, 1, 8, 2))
	if _, err := volume.ReadBlock(t.Context(), f, volume.Cube(1)); err != nil {
		t.Fatal(err)
	}
	if c := f.table[0].Load(); len(f.table) != 1 || len(c.entries) != 8*9 {
		t.Errorf("%d slots, %d bytes", len(f.table), len(c.entries))
	}
	if f := writeCube(t, Raw, cubeOf(volume.Uint8, 1, 8, 2)); len(f.table) != 0 {
		t.Errorf("raw: %d slots", len(f.table))
	}
}

// TestTableFailsOnce shows that a Fill tries once to read a bad chunk for all its blocks, and that the next Fill tries
// again.
func TestTableFailsOnce(t *testing.T) {
	f, reader := largeTable(t)
	good, whole := reader.ReaderAt, 0
	reader.ReaderAt = readerFunc(func(p []byte, offset int64) (int, error) {
		if len(p) > 16 && offset < int64(f.header.DataOffset) {
			if whole++; whole == 1 {
				return 0, io.ErrNoProgress
			}
		}
		return good.ReadAt(p, offset)
	})
	for _, want := range []int{1 + 4, 1, 0} { // the chunk and four entries, the chunk, nothing
		blocks := blocksIn(volume.Box{Max: volume.Vec{2, 2, 1}})
		f.Fill(t.Context(), blocks, f.newMemory)
		for i, b := range blocks {
			if b.Err != nil || binary.LittleEndian.Uint64(b.Voxels) != uint64(i) {
				t.Errorf("block %d: %v", i, b.Err)
			}
		}
		if got := reader.tableReads(f); got != want {
			t.Errorf("%d reads of the table, expected %d", got, want)
		}
	}
}

// TestTablesAreBounded shows that the tables of many files stay within the budget, and that the least recently read
// ones are dropped.
func TestTablesAreBounded(t *testing.T) {
	const slots = 4
	k := newTableBudget(10 * 100)
	chunk := func(n uint64) *tableChunk { return &tableChunk{n, make([]byte, 100)} }
	files := make([]*File, 5)
	for i := range files {
		files[i] = &File{table: make(jumpTable, slots)}
	}
	kept := func() (n []int) {
		total := 0
		for _, f := range files {
			of := int(f.table.memory() / 100)
			n, total = append(n, of), total+of
		}
		if k.files.Cost() != int64(100*total) {
			t.Errorf("%d bytes counted, %d in use", k.files.Cost(), 100*total)
		}
		return n
	}
	want := func(step string, counts ...int) {
		t.Helper()
		if got := kept(); !slices.Equal(got, counts) {
			t.Errorf("%s: %v chunks, expected %v", step, got, counts)
		}
	}
	for i := range uint64(3 * slots) {
		k.keep(files[0], chunk(i))
	}
	want("a slot has one chunk", 4, 0, 0, 0, 0)
	for i := range uint64(slots) {
		k.keep(files[1], chunk(i))
	}
	k.keep(files[2], chunk(0))
	k.keep(files[0], chunk(0))
	k.keep(files[2], chunk(1))
	want("all within the budget", 4, 4, 2, 0, 0)
	k.keep(files[3], chunk(7))
	want("the least recent one lost its own", 4, 0, 2, 1, 0)
	k.close(files[0])
	k.keep(files[0], chunk(0))
	want("a closed file keeps none", 0, 0, 2, 1, 0)
	k.keep(files[4], &tableChunk{0, make([]byte, 20*100)})
	want("one file may always keep its own", 0, 0, 0, 0, 20)
}
