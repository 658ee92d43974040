package cache

import (
	"sync/atomic"
	"unsafe"

	"github.com/wkwfs/wkwfs/volume"
)

// entry is a block in memory, or a block that is being loaded. Its load, requests, holds, the recent list and ristretto
// have references to it. When the last reference is released, its memory becomes free.
type entry struct {
	key        volume.Key
	hash       uint64
	refs       atomic.Int32
	seenBefore bool                 // the block was requested before, not long ago
	shortTerm  bool                 // if the block is kept, the short-term list keeps it
	offered    atomic.Bool          // ristretto keeps the entry, or decides about it
	load       atomic.Pointer[load] // nil: the load has ended, and the fields below are final
	voxels     []byte               // nil: the block was never written
	shared     bool                 // voxels are memory of the source
	err        error                // why there are no voxels
	next       *entry               // with the same hash; protected by the lock of a shard of the index
	stamps
}

// overhead is the memory for an entry in addition to its voxels, in bytes: the entry, its places in the index and in
// the queue of the recent list or in the two maps of ristretto, and the empty places of these maps.
const overhead = 256

// An entry must not be larger than its overhead.
const _ = uint(overhead - unsafe.Sizeof(entry{}))

// BlockMemory returns how many bytes of the budget a block of n bytes takes.
func BlockMemory(n int) int64 { return int64(bufferSize(n)) + overhead }

// cost returns the bytes of the budget that the entry takes.
func (e *entry) cost() int64 {
	if e.shared {
		return overhead
	}
	return int64(cap(e.voxels)) + overhead
}

// acquire adds a reference. It returns false if the last one was already released.
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

// join adds a reference. If the block is being loaded, join also adds a waiter to the load and returns the load. It
// returns false if the last reference was already released or the load is abandoned.
func (e *entry) join() (pending *load, alive bool) {
	pending = e.load.Load()
	if pending == nil {
		return nil, e.acquire()
	}
	if !pending.addWaiter() {
		return nil, false
	}
	if !e.acquire() {
		pending.removeWaiter()
		return nil, false
	}
	return pending, true
}

// release removes a reference. If it is the last one, the entry leaves the index and its memory becomes free.
func (c *Cache) release(e *entry) {
	switch n := e.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("cache: an entry was released too often")
	}
	c.index.remove(e)
	c.freeVoxels(e)
}

// freeVoxels frees the memory of an entry. No other goroutine may use the entry.
func (c *Cache) freeVoxels(e *entry) {
	if e.voxels != nil && !e.shared {
		c.arena.free(e.voxels)
	}
	e.voxels, e.shared = nil, false
}
