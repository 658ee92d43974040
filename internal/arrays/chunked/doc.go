// Package chunked presents arrays of any number of axes, whose chunks are files, as mags. Packages zarr and n5 parse
// metadata into an [Array]. This package reads the array.
//
// # Geometry
//
// Three axes of the array are x, y and z, and one may be the channel. Every other axis must have length 1, and is left
// out. An axis z or y that the array lacks has length 1. A cube of the [volume.Mag] is the box of voxels of one chunk,
// with all channels: one file, or one for each chunk along the channel axis. In a sharded array the chunk is a shard,
// and its inner chunks are the blocks. In other arrays a cube has one block. A large chunk of Blosc has several, each a
// range on the slowest axis of the chunk, because its parts can be decoded alone. Blocks have the layout of package
// volume, whatever the order of the axes in the chunk is.
//
// # Absence
//
// A chunk without a file, or without an entry in its shard, has the fill value. If that is not zero, absent cubes can
// be opened, and [volume.Mag.Cubes] lists them. [volume.AllCubes] yields only cubes that have a file. Voxels outside of
// the array are zero, whatever the padding of a chunk says.
//
// # Memory
//
// A chunk has at most [MaxChunkBytes], because most codecs decode it as a whole. All mags together keep up to 16 MiB of
// shard indexes, and each array 32 MiB of positions of chunks.
//
// # Decisions
//
// Large chunks of Blosc are several blocks. Blosc encodes the blocks of a chunk apart from each other, so a read
// of a few voxels need not decode all of it. Only the header of a chunk has the length of its blocks, so we
// compute the length that c-blosc chooses for the settings in the metadata. If that is wrong, the voxels are
// right, and some blocks are decoded more than once.
package chunked
