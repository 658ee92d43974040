package cache

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// Half of the budget can be reserved. Blocks have the rest.
func TestReserve(t *testing.T) {
	const size = 1000 - overhead
	c := newTestCache(t, 100_000)
	a := newArray(1, volume.Vec{200, 1, 1}, size)
	src := c.Source(a)
	readAll := func() {
		for b := range allBlocks(a) {
			checkBlock(t, src, a, b)
		}
	}
	expectHeld := func(want int64) {
		t.Helper()
		if got := c.Stats().HeldBytes; got != want {
			t.Errorf("%d bytes held, expected %d", got, want)
		}
	}
	readAll()
	expectHeld(80_000) // ristretto is only offered blocks that were loaded twice
	readAll()
	expectHeld(100_000)
	for _, tt := range []struct {
		n  int64
		ok bool
	}{{50_001, false}, {30_000, true}, {20_001, false}, {20_000, true}, {1, false}} {
		if ok := c.Reserve(tt.n); ok != tt.ok {
			t.Errorf("%d bytes reserved: %v, expected %v", tt.n, ok, tt.ok)
		}
		expectHeld(100_000)
	}
	readAll()
	expectHeld(100_000)
	if kept := c.recent.used.Load(); kept != 30_000 {
		t.Errorf("%d bytes of blocks in the recent list, expected 30000", kept)
	}
	c.Unreserve(50_000)
	expectHeld(50_000)
	readAll()
	expectHeld(100_000)
}

// TestBlockMemory compares BlockMemory with what a block takes of the budget.
func TestBlockMemory(t *testing.T) {
	for _, size := range []int{1, pageSize - 1, pageSize, pageSize + 1, 8 * pageSize} {
		c := newTestCache(t, 1<<20)
		a := newArray(1, volume.Vec{1, 1, 1}, size)
		checkBlock(t, c.Source(a), a, volume.Vec{})
		if held := c.Stats().HeldBytes; held != BlockMemory(size) {
			t.Errorf("a block of %d bytes: %d bytes held, expected %d", size, held, BlockMemory(size))
		}
	}
}
