package chunked

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// indexReads counts reads that reach into the last bytes of files: their shard indexes.
type indexReads struct {
	fs.FS
	bytes int64 // of an index
	n     int
}

func (r *indexReads) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &countedFile{f, r}, nil
}

type countedFile struct {
	fs.File
	reads *indexReads
}

func (f *countedFile) ReadAt(p []byte, off int64) (int, error) {
	if info, err := f.Stat(); err == nil && off+int64(len(p)) > info.Size()-f.reads.bytes {
		f.reads.n++
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// TestIndexIsReadOnce: all reads of a shard, in all of its open files, read its index once, while it fits into the
// budget. With room for one index, each change of the shard reads one.
func TestIndexIsReadOnce(t *testing.T) {
	a := &Array{Shape: []int{4, 4, 8}, Chunk: []int{4, 4, 4}, Type: volume.Uint8, Order: []int{0, 1, 2},
		Key:    Key{"c", "/"},
		Shards: []Shard{{Inner: []int{2, 2, 2}, Order: []int{0, 1, 2}}}}
	const indexBytes = 8 * entryBytes
	for _, c := range []struct {
		budget int64
		reads  int
	}{{indexBudget, 2}, {indexBytes + 256, 10}} {
		_, m := writeArray(t, a, Options{})
		reads := &indexReads{FS: m.fsys, bytes: indexBytes}
		m.fsys, m.indexes = reads, newIndexes(c.budget, pageBytes, indexPiece)
		voxels := map[volume.Vec][]byte{}
		for range 5 {
			for x := range 2 {
				cube, err := m.OpenCube(volume.Vec{x})
				if err != nil {
					t.Fatal(err)
				}
				for at := range (volume.Box{Max: volume.Cube(2)}).All() {
					blocks := []volume.Block{{At: at}}
					cube.Fill(context.Background(), blocks, func(volume.Vec) []byte { return make([]byte, 8) })
					key := at.Add(volume.Vec{2 * x})
					if before := voxels[key]; blocks[0].Err != nil ||
						before != nil && !bytes.Equal(before, blocks[0].Voxels) {
						t.Fatalf("block %v: %v, %v, before %v", key, blocks[0].Voxels, blocks[0].Err, before)
					}
					voxels[key] = blocks[0].Voxels
				}
				if err := cube.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if reads.n != c.reads {
			t.Errorf("a budget of %d bytes: %d reads of indexes, expected %d", c.budget, reads.n, c.reads)
		}
	}
}

// TestEntriesReachIntoIndex tries all entries of a small shard, with its index at the start and at the end: those that
// have a byte of the index, or outside of the shard, are errors that name the entry. The others are read.
func TestEntriesReachIntoIndex(t *testing.T) {
	const chunks, chunkBytes = 2, 2
	for _, atStart := range []bool{false, true} {
		a := &Array{Shape: []int{1, 1, 4}, Chunk: []int{1, 1, 4}, Type: volume.Uint8, Order: []int{0, 1, 2},
			Key:    Key{"c", "/"},
			Shards: []Shard{{Inner: []int{1, 1, 2}, Order: []int{0, 1, 2}, AtStart: atStart}}}
		dir, m := writeArray(t, a, Options{})
		name := filepath.Join(dir, "c/0/0/0")
		sound, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		indexAt := m.array.Shards[0].indexAt(int64(len(sound)), chunks*entryBytes)
		for offset := range len(sound) + 2 {
			shard := bytes.Clone(sound)
			entry := int(indexAt) + entryBytes // of the second chunk
			binary.LittleEndian.PutUint64(shard[entry:], uint64(offset))
			if err := os.WriteFile(name, shard, 0o644); err != nil {
				t.Fatal(err)
			}
			m.indexes = newIndexes(indexBudget, pageBytes, indexPiece) // the times of two writes may be the same
			cube, err := m.OpenCube(volume.Vec{})
			if err != nil {
				t.Fatal(err)
			}
			voxels, err := volume.ReadBlock(t.Context(), cube, volume.Vec{1})
			cube.Close()
			overlaps := offset < int(indexAt)+chunks*entryBytes && offset+chunkBytes > int(indexAt)
			switch fault, ok := errors.AsType[*volume.FormatError](err); {
			case !overlaps && offset+chunkBytes <= len(shard):
				if want := shard[offset:][:chunkBytes]; err != nil || !bytes.Equal(voxels, want) {
					t.Errorf("offset %d, index at %d: got %v, %v, expected %v", offset, indexAt, voxels, err, want)
				}
			case !ok || fault.Offset != int64(entry) || fault.Part != "shard index, entry 1," ||
				fault.File != "c/0/0/0" || fault.Expected == "" ||
				fault.Found != fmt.Sprintf("2 bytes at byte %d", offset):
				t.Errorf("offset %d, index at %d: got %v, %v", offset, indexAt, voxels, err)
			}
		}
	}
}

// TestMisplaced: sums of offset and size do not overflow, and an empty range has no byte of the index.
func TestMisplaced(t *testing.T) {
	for _, c := range []struct {
		entry entry
		want  string
	}{
		{entry{0, 10}, ""}, {entry{20, 80}, ""}, {entry{20, 0}, ""}, {entry{10, 0}, ""}, {entry{100, 0}, ""},
		{entry{9, 2}, "outside of the index at bytes 10 to 20"}, {entry{19, 1}, "outside"}, {entry{0, 100}, "outside"},
		{entry{12, 3}, "outside"},
		{entry{20, 81}, "within the 100 bytes"}, {entry{101, 0}, "within"}, {entry{math.MaxUint64, 2}, "within"},
		{entry{2, math.MaxUint64}, "within"},
		{entry{math.MaxUint64, math.MaxUint64}, ""},
	} {
		if got := c.entry.misplaced(100, 10, 20); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: got %q, expected %q", c.entry, got, c.want)
		}
	}
}

// TestLargeIndex: of an index of several pieces, only the pages that are needed are read and kept, once its checksums
// are right. A wrong byte anywhere in it is an error for all of its chunks.
func TestLargeIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const chunks, page = 64, 2 * entryBytes
	for _, checksums := range []int{0, 1, 2} {
		a := &Array{Shape: []int{1, 1, chunks}, Chunk: []int{1, 1, chunks}, Type: volume.Uint8, Order: []int{0, 1, 2},
			Key:    Key{"c", "/"},
			Shards: []Shard{{Inner: []int{1, 1, 1}, Order: []int{0, 1, 2}, Checksums: checksums}}}
		dir, m := writeArray(t, a, Options{})
		reads := &indexReads{FS: m.fsys, bytes: chunks*entryBytes + 4*int64(checksums)}
		m.fsys, m.indexes = reads, newIndexes(3*(page+256), page, 4*page)
		read := func(x int) ([]byte, error) {
			cube, err := m.OpenCube(volume.Vec{})
			if err != nil {
				t.Fatal(err)
			}
			defer cube.Close()
			return volume.ReadBlock(t.Context(), cube, volume.Vec{x})
		}
		pieces := 1 // the page alone
		if checksums > 0 {
			pieces = chunks * entryBytes / (4 * page)
		}
		for i, c := range []struct{ x, reads int }{{7, pieces}, {6, 0}, {62, 1}, {7, 0}, {0, 1}, {7, 0}} {
			reads.n = 0
			if voxels, err := read(c.x); err != nil || len(voxels) != 1 || reads.n != c.reads {
				t.Errorf("%d checksums, read %d: %v, %v, %d reads of the index, expected %d", checksums, i, voxels, err,
					reads.n, c.reads)
			}
		}
		if _, cost := m.indexes.Used(); cost > 3*(page+256) {
			t.Errorf("%d bytes are kept", cost)
		}
		if checksums == 0 {
			continue
		}
		name := filepath.Join(dir, "c/0/0/0")
		shard, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := len(shard) - int(reads.bytes); at < len(shard); at++ {
			shard[at] ^= 1
			if err := os.WriteFile(name, shard, 0o644); err != nil {
				t.Fatal(err)
			}
			shard[at] ^= 1
			m.indexes = newIndexes(indexBudget, page, 4*page) // the times of two writes may be the same
			_, err := read(at % chunks)
			if fault, ok := errors.AsType[*volume.FormatError](err); !ok || fault.Part != "shard index" ||
				!strings.Contains(err.Error(), "crc32c: expected") {
				t.Errorf("byte %d: got %v", at, err)
			}
		}
	}
}
