// Package compresso decodes compresso, an encoding of label volumes in Neuroglancer
// Precomputed.
package compresso

import "errors"

// Decode decodes one chunk of one channel into dst.
//
// size is the chunk's extent in voxels, in the order x, y, z, and bytesPerValue is 1,
// 2, 4 or 8 (uint8 to uint64); both must be what the chunk's own header says. dst is
// filled in Fortran order, x fastest, little-endian; it must be exactly
// size·bytesPerValue long. Its content is undefined after an error. data is only
// read, and not retained. Data that breaks the format gives a [*FormatError].
func Decode(data []byte, size [3]int, bytesPerValue int, dst []byte) error {
	return errors.New("compresso: not written yet")
}
