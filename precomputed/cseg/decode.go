// Package cseg decodes compressed_segmentation, the block-wise encoding of label
// volumes in Neuroglancer Precomputed.
//
// A chunk is cut into small blocks. Each has a table of the labels in it, which
// blocks may share, and per voxel an index into that table of 0, 1, 2, 4, 8, 16 or
// 32 bits. Everything is counted in little-endian words of 32 bits.
//
// The package keeps no state: all functions may be called at the same time.
package cseg

import "errors"

// Decode decodes one chunk into dst.
//
// size is the chunk's extent and block that of a block, both in voxels, in the order
// x, y, z; a chunk clipped at the edge of the volume has the clipped size, its blocks
// are stored whole. bytesPerValue is 4 (uint32) or 8 (uint64).
//
// dst is filled in Fortran order, x fastest and the channel slowest, little-endian;
// it must be exactly size·channels·bytesPerValue long. Its content is undefined after
// an error. data is only read, and not retained. Data that breaks the format gives a
// [*FormatError].
func Decode(data []byte, size [3]int, block [3]int, channels int, bytesPerValue int, dst []byte) error {
	return errors.New("cseg: not written yet")
}
