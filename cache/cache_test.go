package cache

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Two reads of all blocks return the right bytes with any budget.
func TestAnyBudget(t *testing.T) {
	const size = 4096
	for _, tt := range []struct {
		name   string
		budget int64
		loads  int // of 64 blocks that are read twice; 0: not checked
	}{
		{"negative", -1, 0},
		{"none", 0, 0},
		{"one byte", 1, 0},
		{"recent list smaller than a block", 5 * size / 4, 0},
		{"a few", 10 * (size + overhead), 0},
		{"all", 128 * (size + overhead), 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newArray(1, volume.Cube(4), size)
			c := newTestCache(t, tt.budget)
			src := c.Source(a)
			for range 2 {
				for b := range allBlocks(a) {
					checkBlock(t, src, a, b)
				}
			}
			if got := a.total(); tt.loads != 0 && got != tt.loads {
				t.Errorf("%d loads, expected %d", got, tt.loads)
			}
			st := c.Stats()
			if st.Hits+st.Shared+st.Loads != 128 || st.Failures != 0 || st.LoadedBytes != size*st.Loads {
				t.Errorf("inconsistent stats: %+v", st)
			}
		})
	}
}

// Sources of the same version share blocks. Other sources do not.
func TestSourcesShareBlocks(t *testing.T) {
	blocks := volume.Vec{5, 3, 2}
	one, two := vfs.Version{1}, vfs.Version{15: 1}
	for _, tt := range []struct {
		name  string
		a, b  volume.Source
		loads [2]int // of 30 blocks by a and then b
	}{
		{"same version", versionedArray{newArray(1, blocks, 64), one}, versionedArray{newArray(1, blocks, 64), one},
			[2]int{30, 0}},
		{"other version", versionedArray{newArray(1, blocks, 64), one}, versionedArray{newArray(2, blocks, 64), two},
			[2]int{30, 30}},
		{"no version", newArray(1, blocks, 64), newArray(2, blocks, 64), [2]int{30, 30}},
		{"one without version", versionedArray{newArray(1, blocks, 64), one}, newArray(2, blocks, 64), [2]int{30, 30}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newTestCache(t, 1<<20)
			var loads [2]int
			for i, src := range []volume.Source{tt.a, tt.b} {
				file, versioned := src.(versionedArray)
				a := file.array
				if !versioned {
					a = src.(*array)
				}
				wrapped := c.Source(src)
				for b := range allBlocks(a) {
					checkBlock(t, wrapped, a, b)
				}
				loads[i] = a.total()
				if wrapped.Grid() != a.grid {
					t.Errorf("source %d: grid %+v, expected %+v", i, wrapped.Grid(), a.grid)
				}
			}
			if loads != tt.loads {
				t.Errorf("%v loads, expected %v", loads, tt.loads)
			}
		})
	}
}

// Blocks with the same hash are not confused.
func TestHashCollision(t *testing.T) {
	const blocks, size = 40, 512
	c := newTestCache(t, 20*(size+overhead))
	c.hash = func(volume.Key) uint64 { return 42 }
	a, b := newArray(1, volume.Vec{blocks, 1, 1}, size), newArray(2, volume.Vec{blocks, 1, 1}, size)
	srcA, srcB := c.Source(a), c.Source(b)
	var wg sync.WaitGroup
	for start := range 4 {
		wg.Go(func() {
			for i := range 10 * blocks {
				at := volume.Vec{(i*7 + start) % blocks}
				checkBlock(t, srcA, a, at)
				checkBlock(t, srcB, b, at)
			}
		})
	}
	wg.Wait()
}

// Keys that differ in few bits have different hashes and use all shards.
func TestHashSpreads(t *testing.T) {
	seen := make(map[uint64]bool)
	low := make([]int, shards)
	for v := range 16 {
		for block := range uint64(4096) {
			h := hash(volume.Key{Version: vfs.Version{byte(v)}, Index: block})
			seen[h] = true
			low[h%shards]++
		}
	}
	if len(seen) != 16*4096 {
		t.Errorf("%d different hashes for %d keys", len(seen), 16*4096)
	}
	if least, most := slices.Min(low), slices.Max(low); least < 850 || most > 1200 {
		t.Errorf("%d to %d keys per shard, expected about 1024", least, most)
	}
}

// Blocks that were never written are kept, too.
func TestAbsent(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Cube(2), 64)
	src := c.Source(absentArray{a})
	for range 3 {
		for b := range allBlocks(a) {
			if data, err := src.Block(context.Background(), b); data != nil || err != nil {
				t.Fatalf("block %v: %d bytes, %v; expected nil", b, len(data), err)
			}
		}
	}
	if got := a.total(); got != 8 {
		t.Errorf("%d loads, expected 8", got)
	}
}

// absentArray is an array whose blocks were never written. It counts loads.
type absentArray struct{ *array }

func (a absentArray) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	fill(ctx, blocks, memory, func(ctx context.Context, b volume.Vec) ([]byte, error) {
		_, err := a.load(ctx, b)
		return nil, err
	})
}

// Blocks that are larger than the recent list, or than maxInFlight, can be read.
func TestLargeBlocks(t *testing.T) {
	for _, size := range []int{1 << 20, maxInFlight + 1} {
		c := newTestCache(t, 1<<20)
		a := newArray(1, volume.Vec{2, 1, 1}, size)
		src := c.Source(a)
		for b := range allBlocks(a) {
			checkBlock(t, src, a, b)
		}
		if held := c.Stats().HeldBytes; held != 0 {
			t.Errorf("%d bytes held, expected none", held)
		}
	}
}

func TestBlockOutsideGrid(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Vec{3, 3, 3}, 64)
	for _, b := range []volume.Vec{{-1, 1, 0}, {3, 0, 0}, {0, 3, 0}, {0, 0, 3}} {
		_, err := c.Source(a).Block(context.Background(), b)
		if err == nil || err.Error() != "block "+b.String()+" is outside of the grid of 3,3,3 blocks" {
			t.Errorf("block %v: %v", b, err)
		}
	}
}
