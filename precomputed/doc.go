// Package precomputed reads Neuroglancer Precomputed volumes.
//
// To begin, open a volume with [Recognise]. It returns a [volume.Root] with a [volume.Layer]. The specification is
// neuroglancer/datasource/precomputed/{volume,sharded}.md in the sources of Neuroglancer. Its terms map to package
// volume:
//
//	volume   a directory with an info file       volume.Layer
//	scale    one resolution, a key in the info   volume.Mag
//	chunk    a box of voxels                     volume.CubeFile with a single block
//
// The name of a mag is the key of the scale, with "_" for "/". Mags are in the order of their voxel size, finest first.
//
// # Geometry
//
// The grid of chunks starts at the voxel_offset of the scale: chunk c covers the voxels from Origin + c × chunk size,
// where Origin is that of [volume.Mag.CubeGrid]. Chunks at the far edge of a volume are stored clipped to its bounds.
// Their block is padded with zeros. The layout of voxels is that of package volume: x fastest, channels interleaved,
// little-endian.
//
// # What it reads
//
//   - Encodings: raw, compressed_segmentation, compresso, png, jpeg and jxl.
//   - Chunks in files, plain or compressed, and chunks in shards.
//   - All data types of package volume, as far as an encoding has them.
//
// Limits: a decoded chunk has at most [MaxChunkBytes], numbers in the info file are at most 2^40, and the ID of a chunk
// has at most 64 bits. Obsolete shards with a separate index file are errors. A scale that cannot be read is omitted,
// and [volume.Omitter] lists the reason.
//
// # Absence and damage
//
// A chunk is absent if it has no file, no entry in its shard, or no shard. The error of an absent chunk is
// [fs.ErrNotExist], and [volume.ReadBox] fills its voxels with zeros. A chunk that exists and cannot be read is
// another error. It is a [volume.FormatError] with file, chunk and byte offset if the stored bytes are invalid.
//
// # Concurrency
//
// The package is safe for concurrent use. Recognise reads the info file, and later changes of that file have no effect.
// Chunks and shards may change at any time: an open chunk whose file changed fails with [volume.ErrChanged], and
// listings are at most a second old. All scales together cache up to 32 MiB of minishard indexes. Chunks are not
// cached: each Fill reads and decodes the whole chunk.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - A volume as the source reads voxel for voxel, in all encodings, sharded or not.
//     `TestPrecomputedReferenceData`, `TestPrecomputedDamage`
//   - A chunk file may be compressed by gzip, brotli, zstd, xz or bzip2. A suffix that is not known is an error of the
//     chunk, not zeros.
//     `TestCompressedPrecomputed`, `TestUnknownCompression`
//   - The factors of a volume are those of its finest scale, whatever their order is in `info`.
//     `TestFinestScale`
//   - A scale with shards of the obsolete form, `.index` and `.data`, is not shown. The other scales and layers
//     are. `wkwfs info` and the error of `wkwfs mount` name such a file and the command that converts it.
//     `TestObsoleteShards`
//   - The limit of memory holds while programs list more chunks of shards than a server remembers positions of.
//     `TestMemoryOfShards`, `TestDescribeShards`
package precomputed
