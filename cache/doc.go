// Package cache keeps decoded blocks in memory within a byte budget. It lends them to readers, and loads each block
// once if several readers want it at the same time.
//
// One [Cache] serves all sources of a process. [Cache.Source] adds a [volume.Source]. Sources share blocks with the
// same [volume.Key]. [Source.Read] passes blocks to a function. [Source.Hold] loads blocks and pins them in memory
// until their users release them.
//
// # Which blocks are kept
//
// A reader of a flat file reads it plane by plane. Every plane needs all blocks of a slab, the blocks with the same
// z. So a block with a height of 32 voxels is read 32 times and then never again. Two parts share the budget, as in
// W-TinyLFU:
//
//   - The recent list has 4/5 of the budget. It keeps the blocks that were used last.
//   - Ristretto has 1/5 of the budget. It is offered blocks that leave the recent list and were loaded more than once.
//     It keeps those that were missed often.
//
// Ristretto alone admits by frequency. When the reader enters the next slab, the old blocks were read 32 times and the
// new ones never. Ristretto rejects the new ones, and they are decoded for every plane. The recent list alone forgets
// everything at the first large scan. The recent list is the larger part because of a promise: each block of a cube
// that is read in order is loaded once if the budget holds 1½ slabs. For this, the recent list must hold one slab and
// the blocks that are loaded ahead of the reader, or between two readers at different places. 4/5 of 1½ slabs is 1.2
// slabs.
//
// BenchmarkFlatRead counts the loads of each block when a cube is read once (planes of 16 × 16 blocks, 8 slabs of 32
// planes), on two processors. By budget, in slabs:
//
//	slabs               1.1    1.5    2      4
//	this cache          4.9    1.0    1.0    1.0
//	ristretto alone     5.6    3.5    2.5    1.3
//
// Ristretto counts only misses of the recent list, and only of blocks that were requested before. So 32 reads of a
// block by one scan count once, and blocks to which readers return count more than the blocks of a long scan.
//
// A request decides which of the blocks that it loads are kept:
//
//   - [Always]: all of them. They enter the recent list.
//   - [Never]: none.
//   - [IfSeen]: those that were requested before. A random reader thereby takes memory only for the blocks of its
//     reads.
//   - [ShortTerm]: all of them, for the next reads.
//
// A table of hashes records which blocks were requested, and when. Requests with Never are not recorded. The table has
// entries for sixteen times as many blocks of 32 KiB as the budget. A block that was first requested seconds ago enters
// the recent list. A block that was first requested just now probably belongs to one burst of reads, and so do blocks
// with ShortTerm. These enter the short-term list. It has an eighth of the budget, up to 64 MiB, which it borrows from
// the recent list. So a reader that copies one box after the other from a mapped file uses the same memory for each
// box, and leaves the rest of the budget alone.
//
// # The life of an entry
//
// An entry is a block in memory, or a block that is being loaded. It counts its references. One reference each
// belongs to:
//
//   - its load, until the load ends;
//   - each request that waits for the block or uses it;
//   - each hold that contains the block;
//   - the recent list or ristretto, if one of them keeps the block.
//
// When the last reference is released, the entry leaves the index and its memory becomes free. The index has no
// reference, but finds an entry while it has one. So a block that was evicted while a hold pins it is still a hit.
//
// A miss adds an entry with a load to the index. Other requests for the block wait for this load. A load decodes up
// to 512 KiB of blocks of one request with one call of Fill. An error or a panic concerns only the blocks that could
// not be loaded. Their entries leave the index, and the next request tries again. A request whose context is done
// stops waiting at once. A load for which no request waits is abandoned: its context is done, later requests start
// another load, and none of its blocks is kept.
//
// # Memory
//
// The cache owns the memory of voxels. The garbage collector does not see it, except for blocks of less than a page.
// The arena maps spans of 4 MiB, asks the kernel to back them with huge pages, and cuts them into buffers of one
// size. It lends the buffer that was freed last first. Buffers in use and free buffers together take up to the budget
// and 64 MiB, unless more is in use. When the arena needs room for a buffer of one size, it gives free buffers of
// other sizes back to the kernel.
//
// Blocks of more than 8 MiB borrow from the half of the budget that Reserve cannot take. So they evict blocks that are
// kept. Blocks larger than what [Cache.InFlight] returns exceed the budget.
//
// The budget covers the memory of kept blocks, in whole pages, and 256 bytes for each block. [Cache.Reserve] takes a
// part of the budget for holds. The budget does not cover
//
//   - loads in flight: 64 MiB, or one block if a block is larger than that and half of the budget. Blocks count until
//     the request has used them. What decoding them takes besides their voxels counts until they are decoded
//     ([volume.MemoryReporter]);
//   - blocks that leave the budget while a request or a hold uses them, and holds without a reservation;
//   - for each size of blocks, the unused rest of a span, and the next span, which is prepared in advance;
//   - tables: ⅓ MiB and about 1/450 of the budget.
//
// # Concurrency
//
// All methods may be called by many goroutines. A hit takes the read lock of one of 64 shards for a map lookup, and
// changes the reference count twice: about 0.15 µs. A hit of a block that ristretto has also increments a counter
// there: 0.3 µs. A hit does not take the lock of the recent list, does not wait for a source and does not allocate.
//
// A miss costs about 7 µs in addition to the load, or 1.6 µs for each of 32 blocks that are read at once. A load holds
// no lock, and runs in its own goroutine. If the source answers at once ([Source.Speed]), the goroutine of a request
// also runs loads. It loads up to 2 MiB of blocks alone. Such a request does not end early when its context is done. A
// request runs as many loads at a time as there are processors, or up to 32 if the source answers late, or up to 64 if
// its requests should be long. It loads up to 8 MiB of blocks before it uses them. Misses take the locks of a shard of
// the index, of the arena and of the list. The recent list holds its lock while ristretto decides.
//
// The function that a request passes blocks to must not read from the same cache. Fill of a source must not read from
// another source of the same cache. The outer request would hold the bytes in flight for which the inner one waits.
//
// # Close
//
// [Cache.Close] waits for all loads and for the requests that wait for them. It releases all kept blocks. Blocks in
// use by requests or holds stay valid, and other requests find them. Requests for any other block return [ErrClosed].
// When the last block is released, all memory is unmapped.
//
// # Decisions
//
// Voxels are off the Go heap. The arena maps memory in huge pages and lends it again, last freed first. Fresh
// memory is the most expensive part of a first touch: the kernel clears it, and a virtual machine has to ask its
// host for it. So the next span is prepared while one is being lent.
//
// A list of recent blocks stands in front of ristretto: "Which blocks are kept" has the reason, and the numbers.
//
// # Memory of a server
//
// Memory is the budget and work in flight. Tests check that the resident memory of a server stays below the budget
// plus 128 MiB. Each part has a bound of its own, and the sum of these is larger:
//
//   - 64 MiB of blocks that are being loaded, and half of the budget for blocks that take more than 8 MiB while
//     they are loaded. Voxels of slabs do not count: the budget has them. What decoding a block takes besides its
//     voxels counts if it is more than 2 MiB ([volume.MemoryReporter]): it is known from the metadata before anything
//     is read. Of an object store, stored bytes always count;
//   - 16 MiB of blocks of fill values, which all blocks with such a value share (package scratch), and 24 MiB with
//     their garbage. Fill values for which there is no room take the memory of other blocks;
//   - 16 MiB of free memory for decoding, and one index of a Precomputed minishard of more than 1 MiB, or one large
//     block of Blosc, at a time;
//   - 32 loads with a little more than 1 MiB of stored blocks each if the source answers late; 64 loads if the source
//     is distant, or an object store without a disk cache;
//   - for each directory that a source consists of, --io-depth requests at a time and as many lookups. The requests
//     have 32 MiB together, or 72 MiB to an object store, which reads into the memory of stored blocks or voxels;
//   - with a disk cache, for each store: 24 MiB of requests, and 16 MiB that are not yet on the disk;
//   - for each object store, 64 MiB of names and attributes, and 128 answers of listings, about 20 MB;
//   - for all object stores, 16 MiB of answers that are being read and parsed, and up to three times as much that
//     parsing makes of them;
//   - for each zip archive, 1.1 times its directory, which has up to 256 MiB: that is not within the 128 MiB;
//   - for mapped layers, 128 MiB of pages of tables that are lists, 8,388,608 ids for each other table, both of which
//     are not within the 128 MiB, and 96 KiB for each load at a time;
//   - for an annotation, the 4,194,304 nodes and edges that an NML file may have, which are not within the 128 MiB, the
//     tree of each open file of one, and a list of its blocks;
//   - 32 MiB of positions of chunks, of all Precomputed scales and arrays together;
//   - for all mags, 16 MiB of jump tables, 16 MiB of pages of shard indexes of Zarr, and 8 MiB of those that are
//     being read and checked, 32 MiB of minishard indexes of Precomputed, and versions of 512 Ki cubes in snapshots,
//     about 40 MB. At most 256 cubes of each snapshot stay open, fewer if the process may have fewer descriptors;
//   - a chunk for each open file of ome.zarr, a batch of 4,096 entries for each open directory, and 16 MiB of paths
//     of nodes that the kernel may ask for after it has forgotten them;
//   - in wkwfs nfs, 64 MiB of requests and replies in flight, 16 MiB of long paths, 32 batches of listings, and 76
//     KiB for each of up to 1,024 connections.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - Indexes of all open cubes, however many, take up to 72 MiB: 16 MiB of jump tables of WKW, 24 MiB of shard
//     indexes of Zarr, of which only needed parts are kept, and 32 MiB of minishard indexes of Precomputed. One more
//     minishard index may have 16 MiB while it is read.
//     `TestMemoryOfIndexes`, `TestLargeIndex`, `TestIndexIsReadOnce`, `TestIndexes`
//   - A block that takes more than 8 MiB while it is loaded may take half of the cache for that. Blocks that are
//     kept there are evicted. Usual blocks evict nothing before they are kept themselves.
//     `TestWorkInFlight`, `TestLargeBlockEvicts`
//   - A mag whose blocks may take more than 64 MiB and half of the cache is refused: it has no volume, slices and
//     boxes, and its chunks are errors. The log names the mag and its metadata file, the size of its chunks, and
//     what is expected and found, in bytes; `wkwfs mount` of a path prints it. Nothing of it is read. Everything
//     else in the source is shown.
//     `TestChunksTooLargeForCache`, `TestMemoryOfLargeChunks`, `TestWarnOfLargeChunks`
//   - The process stays within its budget and 128 MiB for an object store, too, with up to 64 requests in flight, with
//     and without `--disk-cache`: for many readers at random offsets, and for one that reads a volume in order.
//     `TestMemoryOfObjects`
//   - Reading a cube from start to end loads each block once if the budget holds one and a half slabs.
//     `TestFlatReadLoadsOnce`, `TestEachBlockIsLoadedOnce`
//   - Reading a layer from start to end with a smaller cache loads most blocks once too, if the page cache has
//     room for a slab of the layer.
//     `TestWideLayer`, `TestSequentialReadsThroughPageCache`
//   - A block that was never written takes no memory, and 256 bytes of the budget if its fill value is not zero. So
//     many readers of a volume of 10^18 voxels stay within the budget.
//     `TestSharedMemory`, `TestHugeSparseVolumes`
//   - A block that is read for the first time is decoded whole and not kept. It is kept when it is read a second
//     time within a while, also through another open file. So a random reader takes memory only for the blocks of
//     its current reads, and a reader of three planes of one slab has its blocks decoded twice.
//     `TestPlaneOfEachSlab`, `TestPlanesOfOneSlab`, `TestPlanesOfReopenedFile`, `TestTwoReadersOfPlanes`,
//     `TestReadersOfOnePlane`, `TestSmallRandomReads`, `TestKeep`
//   - If a reader continues from the start of a file, or reads more than 512 KiB past its plane, its blocks are
//     kept at once. Blocks that the kernel's readahead requests after a plane are not kept.
//     `TestEachBlockIsLoadedOnce`, `TestStartIsCached`, `TestReadaheadAfterPlane`
//   - Blocks are kept for a reader that copies a patch plane by plane, or that returns to a block within a
//     second: for a short time, in at most an eighth of the cache and 64 MiB.
//     `TestShortTerm`, `TestRowsOfPlanes`
package cache
