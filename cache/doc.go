// Package cache keeps decoded blocks within a byte budget and loads each block
// once, however many readers want it.
//
// It decorates a [volume.Source]: [Cache.Wrap] returns a source that reads the
// same voxels. One [Cache] serves all sources of a process; sources with the same
// version share their blocks.
//
// # What is kept
//
// A flat file of a cube is read plane by plane, and every plane touches all blocks
// of a slab (the blocks with the same z): a block 32 voxels high is wanted 32
// times, then never again. Two parts share the budget, as in W-TinyLFU:
//
//   - the window, 4/5 of it, keeps what was used last;
//   - ristretto, 1/5 of it, is offered what leaves the window, and keeps what has
//     been missed often.
//
// Ristretto alone admits by frequency: at the change of slabs the old blocks have
// been asked for 32 times and the new ones never, so that the new ones are turned
// away and decoded for every plane. The window alone forgets everything at the
// first large scan. The window is the larger part because of a promise: reading a
// cube from start to end loads each block once if the budget holds 1½ slabs. For
// that the window has to hold one slab and whatever is loaded ahead of the reader
// or between two readers that do not keep step; 4/5 of 1½ slabs is 1.2 of them.
//
// Loads of each block in one flat read of a cube (planes of 16 × 16 blocks, 8 slabs
// of 32 planes) for a budget of so many slabs, as BenchmarkFlatRead counts them:
//
//	slabs               1.1    1.5    2      4
//	this cache          4.6    1.0    1.0    1.0
//	ristretto alone     8.3    5.9    4.7    1.4
//
// Ristretto counts only what the window could not answer. The 32 uses of a block
// by one scan are thereby one use, and blocks to which readers come back count for
// more than those of a long scan.
//
// # Memory
//
// The budget covers the bytes of the blocks and 256 for each block beside them.
// Outside it are the loads in flight (64 MiB, or one block where a block is larger)
// and ristretto's tables (⅓ MiB and about 1/4000 of the budget). A block that was
// dropped is garbage at once; how far the heap grows before the collector sees to
// it is for debug.SetMemoryLimit to say. Blocks are not recycled: readers hold them
// as long as they like.
//
// # Concurrency
//
// Everything is safe for use by many goroutines. A hit takes the read lock of one
// of many shards for a map lookup: about 0.1 µs. A load costs about 5 µs beside
// the load itself, which is of one block or of several that a reader wants at once, if
// the source is a [volume.Batcher]. It runs in a goroutine of its own with no lock
// held, at most one for each CPU at a time, and goes on as long as anybody waits for it.
// A source must not read, inside Block, from another source wrapped by the same
// cache: the outer load would keep the place that the inner one waits for.
package cache
