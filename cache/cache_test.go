package cache

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Two readings of all blocks give the same bytes, whatever the budget.
func TestBytes(t *testing.T) {
	const size = 4096
	for _, tt := range []struct {
		name   string
		budget int64
		loads  int // of 64 blocks read twice; 0: some may be met while they are in flight
	}{
		{"negative", -1, 0},
		{"none", 0, 0},
		{"one byte", 1, 0},
		{"window below a block", 5 * size / 4, 0},
		{"a few", 10 * (size + overhead), 0},
		{"all", 128 * (size + overhead), 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newArray(1, volume.Cube(4), size)
			c := newTestCache(t, tt.budget)
			src := c.Source(a)
			for range 2 {
				for b := range all(a) {
					check(t, src, a, b)
				}
			}
			if got := a.total(); tt.loads != 0 && got != tt.loads {
				t.Errorf("%d loads, expected %d", got, tt.loads)
			}
			st := c.Stats()
			if st.Hits+st.Shared+st.Loads != 128 || st.Failures != 0 || st.LoadedBytes != size*st.Loads {
				t.Errorf("stats do not add up: %+v", st)
			}
		})
	}
}

func TestSharing(t *testing.T) {
	blocks := volume.Vec{5, 3, 2}
	one, two := vfs.Version{1}, vfs.Version{15: 1}
	for _, tt := range []struct {
		name  string
		a, b  volume.Source
		loads [2]int // of the 30 blocks, a read before b
	}{
		{"same version", fileArray{newArray(1, blocks, 64), one}, fileArray{newArray(1, blocks, 64), one}, [2]int{30, 0}},
		{"other version", fileArray{newArray(1, blocks, 64), one}, fileArray{newArray(2, blocks, 64), two}, [2]int{30, 30}},
		{"no version", newArray(1, blocks, 64), newArray(2, blocks, 64), [2]int{30, 30}},
		{"one without", fileArray{newArray(1, blocks, 64), one}, newArray(2, blocks, 64), [2]int{30, 30}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newTestCache(t, 1<<20)
			var loads [2]int
			for i, src := range []volume.Source{tt.a, tt.b} {
				file, versioned := src.(fileArray)
				a := file.array
				if !versioned {
					a = src.(*array)
				}
				wrapped := c.Source(src)
				for b := range all(a) {
					check(t, wrapped, a, b)
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

// Keys that all have the same hash cost loads and never give the bytes of another.
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
				check(t, srcA, a, at)
				check(t, srcB, b, at)
			}
		})
	}
	wg.Wait()
}

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
		t.Errorf("%d different hashes of %d keys", len(seen), 16*4096)
	}
	if least, most := slices.Min(low), slices.Max(low); least < 850 || most > 1200 {
		t.Errorf("%d to %d keys on a shard, expected about 1024", least, most)
	}
}

// Absent blocks are remembered too.
func TestAbsent(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Cube(2), 64)
	src := c.Source(unwritten{a})
	for range 3 {
		for b := range all(a) {
			if data, err := src.Block(context.Background(), b); data != nil || err != nil {
				t.Fatalf("block %v: %d bytes, %v; expected nil", b, len(data), err)
			}
		}
	}
	if got := a.total(); got != 8 {
		t.Errorf("%d loads, expected 8", got)
	}
}

// unwritten is an array that was never written.
type unwritten struct{ *array }

func (a unwritten) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	fill(ctx, blocks, memory, func(ctx context.Context, b volume.Vec) ([]byte, error) {
		_, err := a.load(ctx, b)
		return nil, err
	})
}

// Blocks larger than the window, or than all loads in flight may be, are read.
func TestHuge(t *testing.T) {
	for _, size := range []int{1 << 20, inFlight + 1} {
		c := newTestCache(t, 1<<20)
		a := newArray(1, volume.Vec{2, 1, 1}, size)
		src := c.Source(a)
		for b := range all(a) {
			check(t, src, a, b)
		}
		if held := c.Stats().HeldBytes; held != 0 {
			t.Errorf("%d bytes held, expected none", held)
		}
	}
}

func TestBadBlocks(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Vec{3, 3, 3}, 64)
	for _, b := range []volume.Vec{{-1, 1, 0}, {3, 0, 0}, {0, 3, 0}, {0, 0, 3}} {
		_, err := c.Source(a).Block(context.Background(), b)
		if err == nil || err.Error() != "block "+b.String()+" of a grid of 3,3,3 blocks" {
			t.Errorf("block %v: %v", b, err)
		}
	}
}
