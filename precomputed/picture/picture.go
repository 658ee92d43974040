// Package picture decodes chunks of voxels that are stored as pictures: the png, jpeg
// and jxl encodings of Neuroglancer Precomputed.
//
// A picture has any shape with as many pixels as the chunk has voxels; its rows, one
// after the other, are the voxels in Fortran order, its samples the channels.
//
// The size in a picture's header is compared with the chunk's before anything is
// allocated for it. The package's functions may be called at the same time.
package picture

import (
	"fmt"
	"image"
)

// FormatError says how a picture is not the one that a chunk must be stored as, or what
// its decoder found wrong with it.
type FormatError struct {
	Encoding string // png, jpeg or jxl
	What     string // the property at fault
	Expected string
	Found    string
}

// Error names the encoding, the property, and both values.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %s: expected %s, found %s", e.Encoding, e.What, e.Expected, e.Found)
}

// shape is what a chunk must be as a picture.
type shape struct {
	encoding                        string
	pixels, channels, bytesPerValue int
}

// check reports what a caller got wrong: a kind of voxels that the encoding does not
// have, or a dst of the wrong length.
func (s shape) check(maxChannels, maxBytes int, dst []byte) error {
	if s.pixels < 1 || s.channels < 1 || s.channels > maxChannels || s.bytesPerValue < 1 || s.bytesPerValue > maxBytes {
		return fmt.Errorf("%s: %d pixels of %d × %d bytes: expected 1 or more, of 1 to %d × 1 to %d bytes", s.encoding, s.pixels, s.channels, s.bytesPerValue, maxChannels, maxBytes)
	}
	voxel := s.channels * s.bytesPerValue
	if len(dst)%voxel != 0 || len(dst)/voxel != s.pixels {
		return fmt.Errorf("%s: %d bytes for %d pixels of %d × %d bytes", s.encoding, len(dst), s.pixels, s.channels, s.bytesPerValue)
	}
	return nil
}

// checkArea compares the area of a picture with the chunk's voxels, in a way that no
// area overflows.
func (s shape) checkArea(width, height int) error {
	if width < 1 || height < 1 || width > s.pixels || height != s.pixels/width || s.pixels%width != 0 {
		return s.fault("size", fmt.Sprintf("%d pixels", s.pixels), fmt.Sprintf("%d × %d", width, height))
	}
	return nil
}

// checkSamples compares the samples of a picture with the chunk's channels.
func (s shape) checkSamples(channels, bits int) error {
	if channels != s.channels || bits != s.bytesPerValue*8 {
		return s.fault("samples", samples(s.channels, s.bytesPerValue*8), samples(channels, bits))
	}
	return nil
}

func samples(channels, bits int) string { return fmt.Sprintf("%d × %d bits a pixel", channels, bits) }

func (s shape) fault(what, expected, found string) error {
	return &FormatError{s.encoding, what, expected, found}
}

// broken returns the error for a picture that its decoder cannot read.
func (s shape) broken(err error) error { return s.fault("data", "a sound picture", err.Error()) }

// rows calls each with every row of a picture and with its place in dst.
func rows(dst, pix []byte, stride int, size image.Point, pixelBytes int, each func(dst, row []byte)) {
	out := len(dst) / size.Y
	for y := range size.Y {
		each(dst[y*out:][:out], pix[y*stride:][:size.X*pixelBytes])
	}
}
