// Package pyramid writes the mags of a layer in one pass over its voxels, as cubes of WKW or as shards of Zarr 3.
//
// The source is read from front to end, once, slab by slab. While all cores encode a slab, the next one is read. Each
// slab is also reduced to planes of the next mag. When these planes make a slab, it takes the same steps:
//
//	source ──▶ tile of a slab ──▶ rows of blocks ──▶ encode ──▶ spool ──▶ sub-cubes in Morton order ──▶ cube files
//	                                            └──▶ reduce ──▶ planes of the next mag ──▶ …
//
// If blocks are small, a slab has several blocks on z: see [SlabPlanes].
//
// For some shapes, a slab is larger than its part of the memory. Then a tile is some rows of blocks, or a part of one
// row. Planes of coarser mags, encoded blocks, and slabs of a source that cannot be read in parts then wait in files
// without a name. So the memory is bounded for any shape.
//
// A cube file has its blocks in Morton order. It is written in sub-cubes: cubes of blocks that are adjacent in this
// order. A slab has only some z of the blocks of a cube. The first eighth of a cube in Morton order is complete when
// half of its slabs are. So the spool holds up to half of the encoded blocks of all cubes at one z.
//
// On ext4, one goroutine copies complete sub-cubes out of the spool and has them written past the page cache, while the
// next slabs are encoded. They take no memory beside the spool, except some runs of 4 MiB. If the memory of the spool
// is full, encoding waits for that goroutine. If the spool is too large for the memory all the same, sub-cubes are
// written through the page cache.
//
// A cube that is not compressed has its blocks at fixed places. They are not spooled, but written as they are cut:
// groups of blocks that are next to each other in the file and in the slab.
//
// # Decisions
//
// The page cache is passed by so that the disk writes while the next blocks are copied or
// encoded. A buffered import would copy all voxels into new pages first, and then wait for the sync. If the disk
// writes fewer than 400 MiB in a second in this way, the rest of the import goes through the page cache.
//
// Such a cube is assembled at the same position in a page as in the file, because its first block starts at byte
// 16. The whole pages are written directly, and the pages at both ends through the page cache. One goroutine
// writes, because ext4 holds the lock of a file that grows for each write.
//
// The spool is the queue of compressed cubes for the disk. 7/16 of the blocks of a cube become complete at the
// same time. They stay in the spool until the disk takes them: one goroutine copies them, in the order of the file,
// into runs of 4 MiB. Encoding waits only if the memory of the spool is full. If the spool does not fit into the
// memory, its blocks go to a file.
//
// Workers of an import yield after each block. Otherwise a goroutine whose write has ended gets a processor up to
// 10 ms later.
package pyramid
