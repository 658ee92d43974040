// Package precomputed reads Neuroglancer Precomputed volumes: the `info` file, the
// chunks in all their encodings, in a file each or in shards, and offers them as a
// [volume.Layer].
//
// The specification is neuroglancer/datasource/precomputed/{volume,sharded}.md in
// Neuroglancer's sources. What is what:
//
//	volume   a directory with an info file       volume.Layer
//	scale    one resolution, a key in the info   volume.Mag
//	chunk    a box of voxels                     volume.CubeFile with a single block
//
// The grid of chunks begins at the scale's voxel_offset: cube c covers the voxels
// from Origin + c × chunk size on, where Origin is that of [volume.Mag.CubeGrid].
// Chunks at the far edge of a volume are stored clipped to it; their block is filled
// up with zeros.
//
// What is absent reads as zeros: a chunk without a file or without an entry in its
// shard, a shard without a file. What is there and cannot be read is an error that
// names the file, the chunk and the byte offset.
//
// The info file is read once, when a volume is recognised; chunks and shards may come
// and go. Everything is safe for use by many goroutines at once.
package precomputed
