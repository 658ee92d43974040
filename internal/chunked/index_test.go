package chunked

import (
	"bytes"
	"context"
	"io"
	"io/fs"
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

// TestIndexIsReadOnce: all reads of a shard, in all of its open files, read its index once, while it fits into the budget. With room
// for one index, each change of the shard reads one.
func TestIndexIsReadOnce(t *testing.T) {
	a := &Array{Shape: []int{4, 4, 8}, Chunk: []int{4, 4, 4}, Type: volume.Uint8, Order: []int{0, 1, 2}, Key: Key{"c", "/"},
		Shards: []Shard{{Inner: []int{2, 2, 2}, Order: []int{0, 1, 2}}}}
	const indexBytes = 8 * entryBytes
	for _, c := range []struct {
		budget int64
		reads  int
	}{{indexBudget, 2}, {indexBytes + 256, 10}} {
		_, m := writeArray(t, a, Options{})
		reads := &indexReads{FS: m.fsys, bytes: indexBytes}
		m.fsys, m.indexes = reads, newIndexes(c.budget)
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
					if before := voxels[key]; blocks[0].Err != nil || before != nil && !bytes.Equal(before, blocks[0].Voxels) {
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
