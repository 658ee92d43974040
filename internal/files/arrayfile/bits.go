package arrayfile

import (
	"image"
	"image/png"
	"io"
)

// describeMask says that pixels have one bit.
func (a *Array) describeMask(format string) {
	if a.Labels.Content == Unknown {
		a.Labels = Labels{Segmentation, "pixels of 1 bit in the " + format}
	}
}

// describe calls describeMask if the pixels of the page have one bit.
func (p *tiffPage) describe(a *Array) {
	if !p.packed {
		return
	}
	a.describeMask("TIFF")
	if p.inverted { // as tifffile writes a mask. Other programs invert the values.
		a.warn("TIFF in which 0 is white: values are the stored bits")
	}
}

// unpackRows replaces bits by bytes of 0 or 1. dst has rows of width bytes. Rows of src start at a byte; their first
// pixel is the highest bit.
func unpackRows(dst, src []byte, width int) {
	packed := packedRow(width)
	for ; len(dst) >= width; dst, src = dst[width:], src[packed:] {
		for x := range width {
			dst[x] = src[x/8] >> (7 - x%8) & 1
		}
	}
}

// packedRow returns the bytes of a row of pixels of one bit.
func packedRow(width int) int { return (width + 7) / 8 }

// decodeFewBits returns a decoder of gray PNG with fewer than 8 bits. Go's decoder scales them to 8 bits.
func decodeFewBits(depth byte) func(io.Reader) (image.Image, error) {
	white := byte(255 / (1<<depth - 1)) // of the value 1
	return func(r io.Reader) (image.Image, error) {
		m, err := png.Decode(r)
		switch m := m.(type) {
		case *image.Gray:
			divide(m.Pix, white)
		case *image.NRGBA: // one value is transparent
			divide(m.Pix, white)
		}
		return m, err
	}
}

func divide(b []byte, by byte) {
	for i := range b {
		b[i] /= by
	}
}
