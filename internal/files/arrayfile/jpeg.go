package arrayfile

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"

	"github.com/wkwfs/wkwfs/volume"
)

const jpegMagic = "\xff\xd8\xff"

var jpegFormat = format{name: "JPEG", is: startsWith(jpegMagic), open: asPlane(openJPEG), plane: openJPEG,
	suffixes: []string{".jpg", ".jpeg"}}

// openJPEG reads the header of a JPEG file, which is gray or in colour.
func openJPEG(_ *Array, f *file, _ bool) (plane, error) {
	r, done, err := f.reader()
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := jpeg.DecodeConfig(bufio.NewReader(io.NewSectionReader(r, 0, f.size)))
	if err != nil {
		return nil, fmt.Errorf("%s: JPEG: %w", f.Name(), noEOF(err))
	}
	channels := 3
	switch c.ColorModel {
	case color.GrayModel:
		channels = 1
	case color.YCbCrModel, color.RGBAModel:
	default:
		return nil, invalid(f.Name(), "colours", 0, "gray or three", "four")
	}
	// Each block of 8 × 8 pixels has at least a bit.
	p, err := newPicture(f, "JPEG", volume.Vec{c.Width, c.Height, 1}, volume.Uint8, channels, 8*64*4)
	if err != nil {
		return nil, err
	}
	p.decode = jpeg.Decode
	return p, nil
}

// copyYCbCr converts row y of a picture to RGB.
func copyYCbCr(dst []byte, m *image.YCbCr, y int) {
	for x := range m.Rect.Dx() {
		i, j := m.YOffset(x, y), m.COffset(x, y)
		dst[3*x], dst[3*x+1], dst[3*x+2] = color.YCbCrToRGB(m.Y[i], m.Cb[j], m.Cr[j])
	}
}
