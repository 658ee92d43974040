// Package wkw reads and writes cube files in the format WKW. Package webknossos opens the mags, layers and
// datasets that they belong to.
//
// [OpenFile] opens a cube file of an fs.FS. [volume.ReadBlock] reads a block of it. [WriteCube] and
// [WriteHeader] write a mag. An [Encoder] and [MortonIndex] are for programs that assemble cube files
// themselves.
//
// A cube has 2^m blocks a side, and a block 2^k voxels a side. Each block is stored alone, raw or as LZ4, in
// Morton order. So one block is read with one or two system calls. Inside a block, voxels are as
// [volume.Source] returns them: in Fortran order, with adjacent channels, little-endian. The file
// "header.wkw" of a mag has only the header that all its cubes share.
//
// A cube file of version 1 is a [Header] of 16 bytes, a jump table if the blocks are compressed, and the
// blocks. The jump table has 8 bytes for each block: the offset of its end. The package also reads the
// MPIBR draft of January 2017. Its header has 8 bytes, its geometry is fixed, and its offsets are relative
// to the end of the table.
//
// The specification is the README.md of github.com/scalableminds/webknossos-wrap. Comments here name its sections in
// quotes. It has neither signed types nor the draft: those are as the programs of its authors write them.
//
// The package does not trust the bytes of a file. Opening a cube with a bad header returns a
// [volume.FormatError]. A damaged block returns one when it is read, and all other blocks can still be read.
// A file of another version, or with blocks of more than [MaxBlockBytes], returns a
// [volume.UnsupportedError].
//
// Files are opened for reading only, and never mapped into memory. The package is safe
// for concurrent use, except an Encoder.
//
// # Promises
//
// Each promise names the tests that hold it.
//
//   - RAW, LZ4 and LZ4HC blocks are read, of all ten voxel types, of up to 255 bytes a voxel, and of all side
//     lengths: from 1 voxel a block and 1 block a cube up to blocks of 1 GiB, if the cache is large enough for them.
//     `TestReadAgreesWithModel`, `TestFile`, `TestParseHeaderErrors`
//   - The draft of the format, with the magic bytes `MPIBR`, reads the same.
//     `TestDraftRaw`, `TestDraftLZ4`
//   - Some damage of a header cannot be detected: a changed `dataOffset` of a RAW cube, and a block type that was
//     changed from LZ4 to RAW. The blocks are then what the header says.
//     `TestEveryByteDamaged`
//   - The same blocks are damaged on every processor. The decoder in assembly and the one in Go return the same
//     errors.
//     `TestLengths`, `TestTruncated`, `TestErrors`
package wkw
