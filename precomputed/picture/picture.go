// Package picture decodes chunks of voxels that are stored as pictures: the png, jpeg
// and jxl encodings of Neuroglancer Precomputed.
//
// A picture has any shape with as many pixels as the chunk has voxels; its rows, one
// after the other, are the voxels in Fortran order, its samples the channels.
package picture

import "errors"

// DecodePNG decodes a PNG picture of exactly pixels pixels into dst.
//
// dst holds the samples interleaved (channel fastest), little-endian, in the order of
// the picture's rows; it must be exactly pixels·channels·bytesPerValue long. Its
// content is undefined after an error. channels is 1 to 4 (gray, gray and alpha, RGB,
// RGBA) and bytesPerValue 1 or 2; the picture must be of just this kind. data is only
// read, and not retained.
func DecodePNG(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	return errors.New("png: not written yet")
}

// DecodeJPEG decodes a JPEG picture like [DecodePNG]; channels is 1 or 3 and
// bytesPerValue 1. Chroma samples of a subsampled picture are repeated.
func DecodeJPEG(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	return errors.New("jpeg: not written yet")
}

// DecodeJXL decodes a JPEG XL picture like [DecodePNG].
func DecodeJXL(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	return errors.New("jxl: not written yet")
}
