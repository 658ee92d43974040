// Package wkw reads and writes the WKW format ("wk-wrap") of webKNOSSOS.
//
// A dataset is a directory of layers, a layer a directory of mags, and a mag a
// tree of cube files "z0/y0/x0.wkw" with one "header.wkw" that describes them all.
// A cube is 2^m blocks a side and a block 2^k voxels a side; blocks are stored in
// Morton order, raw or LZ4-compressed, each by itself, so that one block is read
// with one or two preads. Voxels inside a block are in Fortran order with their
// channels interleaved, all values little-endian: a decoded block is already what
// [volume.Source] promises.
//
// A cube file of version 1 is a 16-byte [Header], for compressed cubes a jump
// table of 8-byte block ends, and the blocks. The MPIBR draft of January 2017 (8-byte
// header, fixed geometry, ends relative to the table's end) is read as well.
//
// [File] trusts nothing in a file: a header that breaks the format is a
// [FormatError] when the file is opened, a damaged block is one when that block
// is asked for and leaves all other blocks readable, and what is valid but beyond
// this package is an [UnsupportedError]. Nothing is ever replaced by zeros. All
// methods of a File may be called by many goroutines at once.
package wkw
