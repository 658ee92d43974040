package cache

import (
	"sync/atomic"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
)

// entry is a block in memory, or one that is being loaded. It lives as long as somebody has a
// reference: its load, readers, holds, the window or ristretto. The last one to release it frees the
// memory.
type entry struct {
	key    volume.Key
	hash   uint64
	refs   atomic.Int32
	again  bool                 // the block was loaded before, not long ago
	brief  bool                 // it is kept briefly, if it is kept
	main   atomic.Bool          // ristretto has it, or judges it
	load   atomic.Pointer[load] // nil: the entry is ready, and what follows is final
	voxels []byte               // nil: the block was never written
	err    error                // why there are no voxels
	stamps
}

// overhead is what an entry costs beside its voxels, in bytes: itself, its places in the index, in the
// window's queue or in the two maps of ristretto, with the empty places of these maps.
const overhead = 256

// Entries of blocks without voxels must not be free of charge.
const _ = uint(overhead - unsafe.Sizeof(entry{}))

// cost is what the entry takes of the budget, in bytes.
func (e *entry) cost() int64 { return int64(cap(e.voxels)) + overhead }

// acquire adds a reference. It returns false if the last one was released.
func (e *entry) acquire() bool {
	for {
		n := e.refs.Load()
		if n == 0 {
			return false
		}
		if e.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// join adds a reference, and a waiter to the load that is under way, which it returns. It returns false if the
// entry is dead or its load abandoned.
func (e *entry) join() (under *load, alive bool) {
	under = e.load.Load()
	if under == nil {
		return nil, e.acquire()
	}
	if !under.join() {
		return nil, false
	}
	if !e.acquire() {
		under.leave()
		return nil, false
	}
	return under, true
}

// release takes a reference off. With the last one the entry leaves the index, and its memory is free.
func (c *Cache) release(e *entry) {
	switch n := e.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("cache: an entry was released too often")
	}
	c.index.remove(e)
	c.drop(e)
}

// drop frees the memory of an entry that nobody else knows.
func (c *Cache) drop(e *entry) {
	if e.voxels != nil {
		c.arena.free(e.voxels)
		e.voxels = nil
	}
}
