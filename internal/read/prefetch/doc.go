// Package prefetch reads flat arrays of voxels and decodes blocks before a reader asks for them.
//
// It has three parts. Each answers one question:
//
//   - access (access.go, patches.go): how does the reader read? It is a function of offsets and lengths.
//   - plan (plan.go, layout.go, pushes.go): what is decoded, kept, announced and pushed for a read, and before the
//     next ones? It is a function of the access, the geometry, the speed of the source, the sink and the memory.
//   - run (run.go, portion.go, push.go): does what the plan says. It has the ledger of memory and all goroutines.
//
// access and plan are pure: no clock, no goroutine, no I/O. TestAllPlans tries about a million reads. A [Reader]
// (reader.go) holds its lock while it plans, and never while it waits.
//
// # The first READs of a sequential reader
//
// dd reads a volume of a local disk. READs have 128 KiB.
//
//   - READ 1, from offset 0: the detector has 128 KiB of the 192 KiB from the start on that make a reader sequential.
//     The plan is random: no portion. The reply is copied out of blocks that the cache lends, and keeps.
//   - READ 2: 256 KiB without a gap are more than 192 KiB. The reader is sequential. It gets a window, the memory for
//     two portions, and the first portion is decoded: the slab that has offset 128 KiB. The source is told of this
//     slab and the next ones. The READ waits for the blocks of its rows, and gathers them. When an eighth of the first
//     plane is read, the next slab is decoded, too: with planes of up to 2 MiB, that is now. Without a sink, it is an
//     eighth of the slab that counts.
//   - READ 3 finds its bytes in the first portion, and waits only for blocks that are not decoded yet.
//   - A portion that is decoded is pushed to the page cache, from its second plane on. So most of what follows is
//     never asked for. The READ in the first plane of slab 2 makes slab 3 be decoded in the place of slab 1.
//
// # States of a Reader
//
//	          reads on from the start,
//	          or past the end of a plane              reads elsewhere
//	random ──────────────────────────▶ sequential ──────────────────▶ paused
//	 ▲                                     ▲   │                        │  │
//	 │                                     └───┼────── reads on ────────┘  │
//	 │                                         ▼                           ▼
//	 └──────────────── idle for a second, and another reader needs memory ─┘
//
// A random Reader has no portions. It reads blocks through the cache. It also becomes sequential when it has read 24
// MiB of a plane that is larger.
//
// A sequential Reader has a window of two portions: the portion that it reads, and the next one. After an eighth, as at
// READ 2, it starts to decode the next one in the place of the portion before. It gathers replies from portions. If
// there is no memory, or a portion has a damaged block, it reads blocks as a random Reader does.
//
// If the source answers late, one portion more is decoded ahead with each portion that the Reader comes to, until they
// have 128 MiB, or a quarter of what can be reserved, but at least two. While a disk cache answers for the source,
// there are two.
//
// A paused Reader keeps its portions. It starts no other portion until it reads on.
//
// A small array that is read once (HintOnce) has a sequential Reader from its first byte on. A read of all of it needs
// no portion: its blocks are copied as they are decoded.
//
// # Portions
//
// A portion is a [cache.Hold]. Its blocks are in the index of the cache, so other readers find them, and portions of
// other Readers share them. The blocks of a portion leave memory with the portion, unless the cache keeps them for
// another reason.
//
// If requests to the source should be long, as to an object store or a distant file server, a portion is two slabs, and
// its blocks are loaded in cells of 4 × 4 × 2 blocks. In Morton order, a cell is one extent of the file, and a slab
// alone is many short ones. While a disk cache answers for such a source, new portions are one slab, as of a disk.
//
// Blocks of some files have few planes: a row of strips of a TIFF has one. Slabs of such blocks would not be pushed, so
// a portion is several slabs: up to 16 planes, and up to 32 MiB. dd of a TIFF then takes 0.7 of the time that it takes
// with one slab a portion.
//
// If two slabs take more than half of the cache, a portion is some rows of blocks of a slab. The reader is served from
// such portions while it reads the first plane of the slab. The other planes of the portions are pushed to the sink of
// the file, the page cache. The reader finds them there later. So each block is decoded once while the page cache has
// room for a slab. Portions of whole slabs are pushed too: the page cache then answers most reads, and the kernel needs
// little readahead.
//
// # Announcements
//
// A sequential Reader of a local disk tells its source which slabs it reads next, so that the disk fetches them while
// others are decoded. It announces pairs of slabs, and is two slabs ahead. Blocks that are announced and not yet
// decoded take up to 256 MiB; larger slabs are not announced. A source that may answer late gets no announcements: many
// of its requests are in flight anyway.
//
// # Stacks
//
// The planes of an array may also be single files (see [Stack]). A reader that opens two of them in order reads from a
// sequential Reader of the whole array. All readers that open planes in that order share it. It is closed when no plane
// was open for 5 seconds. The next slab is decoded when four planes were opened in order, and an eighth of the slab is
// read, or three eighths if several planes were open at a time. One core is left to the reader until it needs this
// slab: it waits for several replies for each plane.
//
// # Patches
//
// A reader that copies a patch out of a mapped file reads some rows of each plane. The kernel sends 1 to 3 requests for
// a plane. When the same rows of two planes were read, a random Reader guesses that the reader goes on. It pushes these
// rows of the next planes to the sink: one plane less than the patch has so far. If patches before had more planes, it
// pushes all of them with the first read of a patch, without one page of the last plane. The read of this page proves
// the guess. If six of the last eight patches had no such read, nothing is pushed with a first read.
//
// The blocks of a guess take up to 32 MiB and up to a quarter of what can be reserved. A read waits up to 20 ms until
// its guess is pushed: otherwise the reader overtakes the guess.
//
// # Concurrency
//
// Each Reader has a lock, and the Prefetcher has one for the list of Readers with memory. They are held while a read is
// planned and never while blocks are decoded, copied or pushed. Goroutines of the cache decode portions. Other
// goroutines push them: [Reader.Close] waits for these.
//
// No read needs what is done ahead of it. So after a panic there, the Reader gives back its memory, and reads go
// through the cache.
//
// # Decisions
//
// Random planes are not decoded ahead. A reader of a piece of a plane pays only for its piece, and the code has one
// mechanism less. The price: on a busy machine, a whole plane takes 1.1 to 1.3 times as long.
//
// Slices in order leave a core to their reader (cache.HoldOptions.Ahead). A slice takes five requests, one after the
// other. If the next slab is decoded on all cores meanwhile, threads that decode take the processor of the reader or of
// the reply, and Linux lets them keep it for about 3 ms.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A `box` whose blocks have up to 32 MiB, and each further slice of a reader that has opened two in order, is read
//     past the page cache when it is first opened, if it has more than 128 KiB. Opened again, or before Linux 6.6, it
//     is read through the page cache. `TestReadOnce`, `TestSlicesReadOnce`
//   - After a program has read such a file in 16 pieces, or 512 KiB of it in pieces, of less than 512 KiB, or has
//     opened it again, the next 256 such files are read through the page cache. A file of more than 4 MiB is read
//     through it until a program has started such a file with a piece of 128 KiB or more.
//     `TestSmallPieces`, `TestFileReadAgain`, `TestLargeFileReadOnce`
//   - For a sequential reader, decoded bytes are pushed into the page cache before it asks for them, except with
//     O_DIRECT.
//     `TestPushed`
//   - For a reader that reads the same rows of one plane after another, such as a program that copies patches out of a
//     mapped file, these rows of the next planes are pushed, too. wkwfs never pushes more planes than the program has
//     read of this patch, or of one of its last eight. Damage there fails only the reads of the damaged voxels.
//     `TestPatches`, `TestPatch`, `TestNextPatches`, `TestWrongGuesses`, `TestGuessProof`, `TestGuessDamaged`
//   - If slices are read in order, they are decoded like the volume, if half of the cache has room for two slabs. This
//     also holds for several readers or threads. The memory for that is released when no slice has been open for 5
//     seconds.
//     `TestSlicesInOrder`, `TestSlicesConcurrently`, `TestSlicesReleaseMemory`
//   - The next slab is decoded only for a reader that has opened four slices in order.
//     `TestStackAhead`
//   - A slice read by itself, or out of order, loads only the blocks of its slab, each once while the cache has room.
//     `TestSlicesInOtherOrders`
//   - A read decodes only the blocks that contain its bytes, unless its reader is sequential. A reader is sequential
//     if it has continued from the start of the file, past its plane, or for 24 MiB.
//     `TestReadsOnlyNeededBlocks`, `TestPiecesOfPlanes`, `TestPlanesOfAllSizes`
//   - A `box` or a chunk whose blocks have 8 MiB or less is decoded ahead of a reader that starts with its first byte.
//     A read of all of it decodes it on all cores.
//     `TestSmallArray`, `TestBoxIsLoadedOnce`, `TestWholeRead`
package prefetch
