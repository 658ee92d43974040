package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// array is a source whose bytes encode the array and the block. It counts loads. Before a load it calls wait, if set.
type array struct {
	grid volume.Grid
	seed uint64
	wait func(ctx context.Context, b volume.Vec) error

	mu    sync.Mutex
	loads map[volume.Vec]int
	fills [][]volume.Vec // blocks of each call of Fill
}

// newArray returns an array with blocks of the given number of bytes.
func newArray(seed uint64, blocks volume.Vec, bytes int) *array {
	side := volume.Vec{bytes, 1, 1}
	return &array{
		grid:  volume.Grid{Size: blocks.Mul(side), Block: side, Type: volume.Uint8, Channels: 1},
		seed:  seed,
		loads: make(map[volume.Vec]int),
	}
}

func (a *array) Grid() volume.Grid { return a.grid }

// Block reads a block and returns a copy. The cache keeps the block.
func (s *Source) Block(ctx context.Context, b volume.Vec) (block []byte, err error) {
	err = s.Read(ctx, []volume.Vec{b}, Always, func(_ volume.Vec, voxels []byte) { block = bytes.Clone(voxels) })
	return block, err
}

// fill implements Fill by a function that returns one block.
func fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte,
	block func(context.Context, volume.Vec) ([]byte, error)) {
	for i := range blocks {
		b := &blocks[i]
		var voxels []byte
		if voxels, b.Err = block(ctx, b.At); voxels != nil && b.Err == nil {
			p := memory(b.At)
			b.Voxels = p[:copy(p, voxels)]
		}
	}
}

func (a *array) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	var at []volume.Vec
	for _, b := range blocks {
		at = append(at, b.At)
	}
	a.mu.Lock()
	a.fills = append(a.fills, at)
	a.mu.Unlock()
	fill(ctx, blocks, memory, a.load)
}

func (a *array) load(ctx context.Context, b volume.Vec) ([]byte, error) {
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

// total returns the number of loaded blocks.
func (a *array) total() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, count := range a.loads {
		n += count
	}
	return n
}

// versionedArray is an array with a version.
type versionedArray struct {
	*array
	version vfs.Version
}

func (a versionedArray) Version() vfs.Version { return a.version }

// TestMain sets poison, except for benchmarks, and lets no panic be logged.
func TestMain(m *testing.M) {
	flag.Parse()
	guard.LogTo(slog.New(slog.DiscardHandler)) // sources of tests panic
	poison = flag.Lookup("test.bench").Value.String() == ""
	os.Exit(m.Run())
}

// newTestCache returns a cache that is closed at the end of the test. Nothing may use its memory by then.
func newTestCache(t testing.TB, budget int64) *Cache {
	c := New(budget)
	t.Cleanup(func() {
		c.Close()
		checkEmpty(t, c)
	})
	return c
}

// lent returns the number of bytes that the arena has lent.
func lent(c *Cache) int64 {
	c.arena.mu.Lock()
	defer c.arena.mu.Unlock()
	return c.arena.lent
}

// checkEmpty checks that a closed cache has no memory, entries or bytes in flight.
func checkEmpty(t testing.TB, c *Cache) {
	t.Helper()
	if a := c.arena; a.lent != 0 || len(a.spans) != 0 {
		t.Errorf("%d bytes are still lent, %d spans are mapped", a.lent, len(a.spans))
	}
	for i := range c.index {
		for _, e := range c.index[i].entries {
			t.Errorf("block %d is still in the index", e.key.Index)
		}
	}
	if f := c.flights; !f.own.TryAcquire(f.limit) || !f.borrowed.TryAcquire(f.lends) || c.budget.borrowed != 0 {
		t.Error("bytes in flight were not released")
	}
}

// checkBlock reads block b of src and compares it with a.
func checkBlock(t testing.TB, src *Source, a *array, b volume.Vec) {
	t.Helper()
	got, err := src.Block(context.Background(), b)
	if err != nil {
		t.Errorf("block %v: %v", b, err)
	} else if !bytes.Equal(got, a.content(b)) {
		t.Errorf("block %v of array %d: wrong bytes", b, a.seed)
	}
}

// allBlocks iterates over the positions of all blocks.
func allBlocks(a *array) func(func(volume.Vec) bool) {
	return volume.Box{Max: a.grid.Blocks()}.All()
}

// row returns the positions of blocks from to to−1 of a row.
func row(from, to int) (bs []volume.Vec) {
	for x := from; x < to; x++ {
		bs = append(bs, volume.Vec{x, 0, 0})
	}
	return bs
}
