package cache

import (
	"bytes"
	"context"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// sharing is a source all of whose blocks are one memory, except for every third block.
type sharing struct {
	grid   volume.Grid
	shared []byte
}

func (s sharing) Grid() volume.Grid { return s.grid }

func (s sharing) Fill(_ context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		if b.At[0]%3 == 0 {
			b.Voxels = memory(b.At)
			copy(b.Voxels, bytes.Repeat([]byte{1}, len(b.Voxels)))
			continue
		}
		memory(b.At) // a source may find out only then that it does not need it
		b.Voxels, b.Shared = s.shared, b.Shares
	}
}

// Blocks in shared memory take nothing of the budget but their entries. They are hits until they are evicted, in a
// Hold, too, and the cache neither writes their memory nor frees it.
func TestSharedMemory(t *testing.T) {
	const size, n = 8 << 10, 300
	shared := bytes.Repeat([]byte{7}, size)
	src := sharing{newArray(0, volume.Vec{n, 1, 1}, size).grid, shared}
	c := New(n * 2 * overhead)
	s := c.Source(src)
	blocks := func(step int) (all []volume.Vec) {
		for x := 1; x < n; x += step {
			all = append(all, volume.Vec{x, 0, 0})
		}
		return all
	}
	read := func(step int) {
		t.Helper()
		err := s.Read(t.Context(), blocks(step), Always, func(at volume.Vec, voxels []byte) {
			if (&voxels[0] == &shared[0]) != (at[0]%3 != 0) || len(voxels) != size {
				t.Fatalf("block %v has %d bytes, of the shared memory: %v", at, len(voxels), &voxels[0] == &shared[0])
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read(3)
	loaded := c.Stats()
	if loaded.LentBytes != 0 || loaded.LoadedBytes != 0 || loaded.HeldBytes != n/3*overhead {
		t.Errorf("%d bytes are lent, %d loaded, %d held, expected 0, 0 and %d", loaded.LentBytes, loaded.LoadedBytes,
			loaded.HeldBytes, n/3*overhead)
	}
	read(3)
	if hits := c.Stats().Hits; hits != n/3 {
		t.Errorf("%d hits, expected %d", hits, n/3)
	}
	read(1) // the others evict them
	h, err := s.Hold(blocks(1), HoldOptions{BatchSize: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.WaitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := h.Voxels()[0]; &v[0] != &shared[0] {
		t.Error("a hold has a copy")
	}
	h.Close()
	c.Close()
	if bytes.Count(shared, []byte{7}) != size {
		t.Error("shared memory was written")
	}
	checkArena(t, c.arena, 0, 0)
}
