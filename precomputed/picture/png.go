package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
)

// Offsets in the header of a PNG file, which is the first chunk (PNG, §11.2.2).
const (
	pngBitDepth  = 24
	pngColorType = 25
	pngHeaderEnd = 33
)

// pngChannels has the samples per pixel of each color type. Palettes are not supported.
var pngChannels = map[byte]int{0: 1, 2: 3, 4: 2, 6: 4}

// DecodePNG decodes a PNG picture with the given number of pixels into dst.
//
// channels is 1 to 4 (gray, gray and alpha, RGB, RGBA) and bytesPerValue is 1 or 2. DecodePNG writes the samples to
// dst in the order of rows, little-endian and interleaved (channel fastest). dst must have exactly
// pixels·channels·bytesPerValue bytes. Its content is undefined after an error. DecodePNG does not modify or retain
// data.
//
// The error is a [*volume.FormatError] if the picture is damaged, if its size, channels or bits are different, or if
// it has a palette or a transparent color.
func DecodePNG(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	s := shape{"png", pixels, channels, bytesPerValue}
	if err := s.check(4, 2, dst); err != nil {
		return err
	}
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return s.broken(err)
	}
	if err := s.checkArea(config.Width, config.Height); err != nil {
		return err
	}
	// image/png converts 1, 2 and 4 bits to 8 bits, and two channels to four. Only the header has the stored format.
	stored, ok := pngChannels[data[pngColorType]]
	if !ok {
		return s.fault("color type", samples(channels, bytesPerValue*8), fmt.Sprintf("type %d", data[pngColorType]))
	}
	if err := s.checkSamples(stored, int(data[pngBitDepth])); err != nil {
		return err
	}
	if transparent(data) {
		return s.fault("transparency", "no transparent color", "a tRNS chunk")
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return s.broken(err)
	}
	return s.copyPNG(dst, m)
}

// transparent reports whether the file declares a transparent color (tRNS), for which image/png adds an alpha
// channel. The tRNS chunk comes before the first IDAT chunk.
func transparent(data []byte) bool {
	for rest := data[pngHeaderEnd:]; len(rest) >= 8; {
		length := uint64(binary.BigEndian.Uint32(rest))
		switch string(rest[4:8]) {
		case "tRNS":
			return true
		case "IDAT":
			return false
		}
		if length+12 > uint64(len(rest)) {
			return false
		}
		rest = rest[length+12:] // length, type and checksum
	}
	return false
}

// copyPNG copies the samples of a picture that image/png returned. There, gray and alpha are gray, gray, gray, alpha;
// RGB has an additional alpha; and 16-bit samples are big-endian.
func (s shape) copyPNG(dst []byte, m image.Image) error {
	size := m.Bounds().Size()
	copied := func(stored int, pick ...int) func(dst, row []byte) {
		return func(dst, row []byte) { pickSamples(dst, row, stored, s.bytesPerValue, pick) }
	}
	switch m := m.(type) {
	case *image.Gray:
		rows(dst, m.Pix, m.Stride, size, 1, func(dst, row []byte) { copy(dst, row) })
	case *image.Gray16:
		rows(dst, m.Pix, m.Stride, size, 2, copied(1, 0))
	case *image.RGBA:
		rows(dst, m.Pix, m.Stride, size, 4, dropAlpha)
	case *image.RGBA64:
		rows(dst, m.Pix, m.Stride, size, 8, copied(4, 0, 1, 2))
	case *image.NRGBA:
		if s.channels == 4 {
			rows(dst, m.Pix, m.Stride, size, 4, func(dst, row []byte) { copy(dst, row) })
		} else {
			rows(dst, m.Pix, m.Stride, size, 4, copied(4, 0, 3))
		}
	case *image.NRGBA64:
		if s.channels == 4 {
			rows(dst, m.Pix, m.Stride, size, 8, copied(4, 0, 1, 2, 3))
		} else {
			rows(dst, m.Pix, m.Stride, size, 8, copied(4, 0, 3))
		}
	default:
		return s.fault("picture", samples(s.channels, s.bytesPerValue*8), fmt.Sprintf("%T", m))
	}
	return nil
}

// pickSamples copies the samples with the indices in pick from each pixel of a row. It converts big-endian to
// little-endian. A pixel of the row has stored samples of width bytes, 1 or 2.
func pickSamples(dst, row []byte, stored, width int, pick []int) {
	if width == 1 {
		for ; len(row) >= stored; row = row[stored:] {
			for _, n := range pick {
				dst[0] = row[n]
				dst = dst[1:]
			}
		}
		return
	}
	for ; len(row) >= 2*stored; row = row[2*stored:] {
		for _, n := range pick {
			dst[0], dst[1] = row[2*n+1], row[2*n]
			dst = dst[2:]
		}
	}
}

// dropAlpha copies the first three of each four bytes.
func dropAlpha(dst, row []byte) {
	for ; len(row) >= 4 && len(dst) >= 3; row, dst = row[4:], dst[3:] {
		dst[0], dst[1], dst[2] = row[0], row[1], row[2]
	}
}
