// Package picture decodes chunks of voxels that are stored as pictures: the png, jpeg and jxl encodings of
// Neuroglancer Precomputed.
//
// A picture has one pixel for each voxel of the chunk, in any width and height. The pixels in the order of rows are
// the voxels in Fortran order. The samples of a pixel are the channels.
//
// The size in the header of a picture is checked before memory is allocated for it. The package is safe
// for concurrent use.
//
// # Decisions
//
// libjxl is shipped as WebAssembly (libjxl/README.md has its origin), and wazero runs it. There is no decoder of JPEG
// XL in Go, and with cgo the program would not be static.
package picture

import (
	"fmt"
	"image"

	"github.com/wkwfs/wkwfs/volume"
)

// shape describes the picture that a chunk must be.
type shape struct {
	encoding                        string
	pixels, channels, bytesPerValue int
}

// check checks the arguments of a decode function: type and channels must be supported by the encoding, and dst must
// have the right length.
func (s shape) check(maxChannels, maxBytes int, dst []byte) error {
	if s.pixels < 1 || s.channels < 1 || s.channels > maxChannels || s.bytesPerValue < 1 || s.bytesPerValue > maxBytes {
		return fmt.Errorf("%s: %d pixels of %d × %d bytes: expected 1 or more, of 1 to %d × 1 to %d bytes", s.encoding,
			s.pixels, s.channels, s.bytesPerValue, maxChannels, maxBytes)
	}
	voxel := s.channels * s.bytesPerValue
	if len(dst)%voxel != 0 || len(dst)/voxel != s.pixels {
		return fmt.Errorf("%s: %d bytes for %d pixels of %d × %d bytes", s.encoding, len(dst), s.pixels, s.channels,
			s.bytesPerValue)
	}
	return nil
}

// checkArea compares width × height of a picture with the voxels of the chunk. It does not compute the product, which
// may overflow.
func (s shape) checkArea(width, height int) error {
	if width < 1 || height < 1 || width > s.pixels || height != s.pixels/width || s.pixels%width != 0 {
		return s.fault("size", fmt.Sprintf("%d pixels", s.pixels), fmt.Sprintf("%d × %d", width, height))
	}
	return nil
}

// checkSamples compares the samples of a picture with the channels of the chunk.
func (s shape) checkSamples(channels, bits int) error {
	if channels != s.channels || bits != s.bytesPerValue*8 {
		return s.fault("samples", samples(s.channels, s.bytesPerValue*8), samples(channels, bits))
	}
	return nil
}

func samples(channels, bits int) string {
	return fmt.Sprintf("%d × %d bits per pixel", channels, bits)
}

// fault returns the error for a part of the picture.
func (s shape) fault(part, expected, found string) error {
	return fmt.Errorf("%s: %w", s.encoding, &volume.FormatError{Part: part, Offset: -1, Expected: expected,
		Found: found})
}

// broken returns the error for a picture that cannot be decoded.
func (s shape) broken(err error) error { return s.fault("data", "a valid picture", err.Error()) }

// rows calls each for each row of a picture, with the bytes of the row in dst.
func rows(dst, pix []byte, stride int, size image.Point, pixelBytes int, each func(dst, row []byte)) {
	out := len(dst) / size.Y
	for y := range size.Y {
		each(dst[y*out:][:out], pix[y*stride:][:size.X*pixelBytes])
	}
}

// PNGMemory returns how many bytes DecodePNG takes at most: image/png makes a picture of four channels, which is
// garbage for a while.
func PNGMemory(pixels, _, bytesPerValue int) int { return 2 * 4 * pixels * bytesPerValue }

// JPEGMemory returns how many bytes DecodeJPEG takes at most: image/jpeg keeps the coefficients of progressive
// pictures, with 4 bytes each, and makes a picture.
func JPEGMemory(pixels, channels, _ int) int { return 2 * 5 * pixels * channels }

// JXLMemory returns how many bytes DecodeJXL takes at most: the limit of the decoder, and its result.
func JXLMemory(pixels, _, bytesPerValue int) int {
	return libjxlLimit(pixels) + 4*pixels*bytesPerValue
}
