// Package prefetch reads flat arrays of voxels, and decodes what will be asked for next.
//
// It has three parts, each with one question:
//
//   - the detector: how does the reader read? It sees offsets and lengths, and nothing else.
//   - the layout: how is the array cut into slabs? A slab is a layer of blocks, or some rows of blocks of one.
//   - the [Reader]: which slabs are in memory, and which one is decoded next?
//
// # States of a Reader
//
//	          reads on from the start,
//	          or out of its plane                     reads elsewhere
//	random ──────────────────────────▶ sequential ──────────────────▶ resting
//	 ▲  │                                  ▲   │                        │  │
//	 │  │ the array is small,              └───┼────── reads on ────────┘  │
//	 │  │ and read once (Once)                 │                           │
//	 │  └─────────────────▶ whole              │                           │
//	 │                        ▼                ▼                           ▼
//	 └──────────────── idle for a second, and another reader needs memory ─┘
//
// A random Reader has no memory. Its blocks are read through the cache as they are asked for. It becomes sequential too when it has
// read 24 MiB of a larger plane. If another Reader has a slab of the same blocks, every Reader reads from that.
//
// A sequential Reader has reserved memory for two slabs: the one that is read, and the next one. It begins the next slab
// when an eighth of this one is read, in the place of the slab before. Replies are gathered from slabs. Where there is no
// memory, or a slab has a damaged block, the blocks are read as those of a random Reader.
//
// Where the source answers late, a reader reaches the next slab before it is decoded. Each time, the Reader gets room for one slab more,
// up to 256 MiB, and so decodes the more ahead, the later the answers come.
//
// A resting Reader keeps its slabs. It begins no other until it reads on.
//
// A whole Reader has all blocks of its array in one slab, from its first read on.
//
// # Slabs
//
// A slab is a [cache.Hold]: its blocks are in the cache's index like all others, so that other readers of the same blocks find
// them there. Readers of the same array share whole slabs too. The blocks of slabs are not kept when they are let go, unless the
// cache has them for another reason.
//
// Where two layers of blocks are more than half of the cache, slabs are some rows of blocks of a layer. The reader is served
// from them while it goes through the first plane of the layer. The other planes are pushed to the sink of the file, which is the
// page cache, and found there. So each block is decoded once as long as the page cache has room for a layer. Where slabs are whole
// layers, they are pushed too: reads are then answered by the page cache, and the kernel's readahead can be small.
//
// # Stacks
//
// The planes of an array may be files of their own ([Stack]). A reader that opens four of them in order shares one sequential
// Reader of the whole array with all readers that go on in that order. It ends when no plane was open for 5 seconds.
//
// # Concurrency
//
// Each Reader has a lock, and the Prefetcher one for the map of slabs. They are held for the decisions of each read and never over decoding, copying or pushing. Slabs are decoded by
// goroutines of the cache, and pushed by goroutines that [Reader.Close] waits for.
package prefetch
