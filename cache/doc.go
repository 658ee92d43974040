// Package cache keeps decoded blocks within a byte budget, lends them to readers and loads each
// block once, however many readers want it.
//
// One [Cache] serves all sources of a process. [Cache.Source] adds a [volume.Source]. Sources share the
// blocks that have the same [volume.Key]. [Source.Read] shows blocks to a function. [Source.Hold] loads
// blocks and keeps them in memory until their users release them.
//
// # What is kept
//
// A flat file of a cube is read plane by plane, and every plane touches all blocks
// of a slab (the blocks with the same z): a block 32 voxels high is read 32
// times, then never again. Two parts share the budget, as in W-TinyLFU:
//
//   - The window has 4/5 of it and keeps the blocks that were used last.
//   - Ristretto has 1/5 of it. It is offered blocks that leave the window and were loaded more than
//     once, and keeps those that were missed often.
//
// Ristretto alone admits by frequency. At the change of slabs, the old blocks were read 32 times
// and the new ones never: it turns the new ones away, and they are decoded for every plane. The
// window alone forgets everything at the first large scan. The window is the larger part because of
// a promise: reading a cube from start to end loads each block once if the budget holds 1½ slabs. For
// that the window has to hold one slab, and what is loaded ahead of the reader
// or between two readers that do not keep step. 4/5 of 1½ slabs is 1.2 of them.
//
// Loads of each block in one flat read of a cube (planes of 16 × 16 blocks, 8 slabs
// of 32 planes) for a budget of so many slabs, as BenchmarkFlatRead counts them on two processors:
//
//	slabs               1.1    1.5    2      4
//	this cache          4.9    1.0    1.0    1.0
//	ristretto alone     5.6    3.5    2.5    1.3
//
// Ristretto counts only misses of the window. The 32 reads of a block
// by one scan are thereby one use, and blocks to which readers return count for
// more than those of a long scan.
//
// A request says what is kept of the blocks that it loads:
//
//   - [Always]: all of them. They enter the window.
//   - [Never]: none.
//   - [IfSeen]: those that were asked for before. A random reader then takes no memory but for the blocks of its reads.
//   - [Briefly]: all of them, for the next reads.
//
// A table of hashes remembers what was asked for and when, except by requests that keep nothing. It has room for
// sixteen times as many blocks of 32 KiB as the budget. What was first asked for seconds ago enters the window. What was first
// asked for just now is likely to belong to one burst of reads, as does what is kept briefly. Such blocks have a window of
// their own, an eighth of the budget and 64 MiB at most, which it lends from the other one. So a reader that copies one box after the other
// out of a mapped file uses the same memory for each, and leaves the rest of the budget alone.
//
// # The life of an entry
//
// An entry is a block in memory or in a load. It counts its references. These have one each:
//
//   - the load, until it ends;
//   - each request that waits for the block, or shows it;
//   - each hold that the block is part of;
//   - the window or ristretto, if one of them keeps the block.
//
// The release of the last reference takes the entry out of the index and frees its memory. The index
// has no reference, but finds an entry as long as it has one: a block that is evicted while a hold has it is still a hit.
//
// A miss puts an entry with a load into the index, and other requests for the block wait for this load.
// A load decodes up to 512 KiB of blocks of one request by one call of Fill. An error or a panic is the result of
// the blocks that it concerns. Their entries leave the index, and the next request tries again. A request that leaves
// stops waiting at once. A load for which no request waits is abandoned: its context is done, requests that
// arrive later start another one, and nothing of it is kept.
//
// # Memory
//
// The cache owns the memory of voxels, which the garbage collector does not see. Blocks of less than a page are
// the exception. The arena maps spans of 8 MiB, asks the kernel to back them by huge pages, and cuts them into
// buffers of one size. The buffer that was freed last is lent first. Buffers that are lent and buffers that are free take
// no more than the budget and 64 MiB, as long as the lent ones leave room. The arena gives free buffers of other
// sizes back to the kernel when it needs room for one.
//
// The budget covers the memory of the blocks that are kept, in whole pages, and 256 bytes for each of them.
// [Cache.Reserve] takes a part of the budget for holds. Outside of the budget are
//
//   - the loads in flight: 64 MiB, or one block where a block is larger. Blocks count until the request has shown them;
//   - blocks that leave the budget while a request or a hold has them, and holds without a reservation;
//   - the rest of a span of which only a part is lent, and the next span, which is made ready, for each size of blocks;
//   - the tables: ⅓ MiB and about 1/450 of the budget.
//
// # Concurrency
//
// Everything is safe for use by many goroutines. A hit takes the read lock of one
// of 64 shards for a map lookup and changes the count of references twice: about 0.15 µs. A hit of a block that ristretto has
// also counts for ristretto: 0.3 µs. No hit takes the lock of the window, and none waits for a source. Hits allocate nothing.
//
// A miss costs about 7 µs beside the load itself, or 1.6 µs for each of 32 blocks that are read at once. A load
// runs in a goroutine of its own with no lock held. A request has as many of them as there are processors, and loads up to
// 8 MiB of blocks before it shows them. The locks are those of a shard of the index, of the arena and of the window.
// The window holds its lock while ristretto decides.
//
// A function that a request shows blocks to must not read from the same cache. Nor must Fill of a source read
// from another source of the same cache. The outer request would keep the place in flight for which the inner one waits.
//
// # Close
//
// [Cache.Close] waits for all loads, and for requests that wait for loads. It releases all blocks that are kept. Blocks that
// requests or holds have stay valid, and are found as long as they do. Any other request gets [ErrClosed]. The last block
// that is released takes all spans with it.
package cache
