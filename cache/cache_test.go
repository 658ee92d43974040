package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// array is a source whose bytes say which block of which array they are. It counts
// its loads; before a load it calls wait if there is one.
type array struct {
	grid volume.Grid
	seed uint64
	wait func(ctx context.Context, b volume.Vec) error

	mu    sync.Mutex
	loads map[volume.Vec]int
}

// newArray is made of blocks of the given number of bytes.
func newArray(seed uint64, blocks volume.Vec, bytes int) *array {
	side := volume.Vec{bytes, 1, 1}
	return &array{
		grid:  volume.Grid{Size: blocks.Mul(side), Block: side, Type: volume.Uint8, Channels: 1},
		seed:  seed,
		loads: make(map[volume.Vec]int),
	}
}

func (a *array) Grid() volume.Grid { return a.grid }

func (a *array) Block(ctx context.Context, b volume.Vec) ([]byte, error) {
	a.mu.Lock()
	a.loads[b]++
	a.mu.Unlock()
	if a.wait != nil {
		if err := a.wait(ctx, b); err != nil {
			return nil, err
		}
	}
	return a.content(b), nil
}

func (a *array) content(b volume.Vec) []byte {
	var mark [32]byte
	for i, n := range []uint64{a.seed, uint64(b[0]), uint64(b[1]), uint64(b[2])} {
		binary.LittleEndian.PutUint64(mark[8*i:], n)
	}
	data := make([]byte, a.grid.BlockBytes())
	for n := copy(data, mark[:]); n < len(data); n *= 2 {
		copy(data[n:], data[:n])
	}
	return data
}

// total returns the number of loads.
func (a *array) total() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, count := range a.loads {
		n += count
	}
	return n
}

// fileArray is an array with a version.
type fileArray struct {
	*array
	version vfs.Version
}

func (a fileArray) Version() vfs.Version { return a.version }

// newTestCache returns a cache that is closed at the end of the test.
func newTestCache(t testing.TB, budget int64) *Cache {
	c := New(budget)
	t.Cleanup(c.Close)
	return c
}

// check reads block b of src and fails unless its bytes are those of a.
func check(t testing.TB, src volume.Source, a *array, b volume.Vec) {
	t.Helper()
	got, err := src.Block(context.Background(), b)
	if err != nil {
		t.Errorf("block %v: %v", b, err)
	} else if !bytes.Equal(got, a.content(b)) {
		t.Errorf("block %v of array %d: wrong bytes", b, a.seed)
	}
}

func all(a *array) func(func(volume.Vec) bool) {
	return volume.Box{Max: a.grid.Blocks()}.All()
}

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
			src := c.Wrap(a)
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
				wrapped := c.Wrap(src)
				for b := range all(a) {
					check(t, wrapped, a, b)
				}
				loads[i] = a.total()
				v, ok := wrapped.(volume.Versioned)
				if ok != versioned || ok && v.Version() != src.(volume.Versioned).Version() {
					t.Errorf("source %d: the version did not pass through", i)
				}
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
	c := newCache(20*(size+overhead), func(key) uint64 { return 42 })
	defer c.Close()
	a, b := newArray(1, volume.Vec{blocks, 1, 1}, size), newArray(2, volume.Vec{blocks, 1, 1}, size)
	srcA, srcB := c.Wrap(a), c.Wrap(b)
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
			h := hash(key{vfs.Version{byte(v)}, block})
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
	src := c.Wrap(absent{a})
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

// absent is an array that was never written.
type absent struct{ *array }

func (a absent) Block(ctx context.Context, b volume.Vec) ([]byte, error) {
	_, err := a.array.Block(ctx, b)
	return nil, err
}

// Blocks larger than the window, or than all loads in flight may be, are read.
func TestHuge(t *testing.T) {
	for _, size := range []int{1 << 20, inFlight + 1} {
		c := newTestCache(t, 1<<20)
		a := newArray(1, volume.Vec{2, 1, 1}, size)
		src := c.Wrap(a)
		for b := range all(a) {
			check(t, src, a, b)
		}
		if held := c.Stats().HeldBytes; held != 0 {
			t.Errorf("%d bytes held, expected none", held)
		}
	}
}

// Half of the budget can be reserved; blocks have what is left.
func TestReserve(t *testing.T) {
	const size = 1000 - overhead
	c := newTestCache(t, 100_000)
	a := newArray(1, volume.Vec{200, 1, 1}, size)
	src := c.Wrap(a).(volume.Keeper)
	fill := func() {
		for b := range all(a) {
			check(t, src, a, b)
		}
	}
	held := func(want int64) {
		t.Helper()
		if got := c.Stats().HeldBytes; got != want {
			t.Errorf("%d bytes held, expected %d", got, want)
		}
	}
	fill()
	held(100_000)
	for _, tt := range []struct {
		n  int64
		ok bool
	}{{50_001, false}, {30_000, true}, {20_001, false}, {20_000, true}, {1, false}} {
		if ok := src.Reserve(tt.n); ok != tt.ok {
			t.Errorf("%d bytes reserved: %v, expected %v", tt.n, ok, tt.ok)
		}
		held(100_000)
	}
	fill()
	held(100_000)
	if kept := c.window.used.Load(); kept != 30_000 {
		t.Errorf("%d bytes of blocks in the window, expected 30000", kept)
	}
	src.Release(50_000)
	held(50_000)
	fill()
	held(100_000)
}

func TestBadBlocks(t *testing.T) {
	c := newTestCache(t, 1<<20)
	a := newArray(1, volume.Vec{3, 3, 3}, 64)
	for _, b := range []volume.Vec{{-1, 1, 0}, {3, 0, 0}, {0, 3, 0}, {0, 0, 3}} {
		_, err := c.Wrap(a).Block(context.Background(), b)
		if err == nil || err.Error() != "block "+b.String()+" of a grid of 3,3,3 blocks" {
			t.Errorf("block %v: %v", b, err)
		}
	}
	_, err := c.Wrap(short{a}).Block(context.Background(), volume.Vec{1, 2, 0})
	if want := "block 1,2,0: 63 bytes, expected 64"; err == nil || err.Error() != want {
		t.Errorf("short block: %v, expected %s", err, want)
	}
}

// short is an array whose blocks lack a byte.
type short struct{ *array }

func (a short) Block(ctx context.Context, b volume.Vec) ([]byte, error) {
	return a.content(b)[1:], nil
}

func TestClose(t *testing.T) {
	c := New(1 << 20)
	a := newArray(1, volume.Cube(4), 64)
	src := c.Wrap(a)
	var reading, wg sync.WaitGroup
	for range 4 {
		reading.Add(1)
		wg.Go(func() {
			check(t, src, a, volume.Vec{})
			reading.Done()
			for {
				for b := range all(a) {
					data, err := src.Block(context.Background(), b)
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil || !bytes.Equal(data, a.content(b)) {
						t.Errorf("block %v: wrong bytes, %v", b, err)
					}
				}
			}
		})
	}
	reading.Wait()
	c.Close()
	wg.Wait()
	c.Close()
	if held := c.Stats().HeldBytes; held != 0 {
		t.Errorf("%d bytes held after Close", held)
	}
}
