package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
)

// DecodeJPEG decodes a JPEG picture as [DecodePNG] does. channels is 1 (gray) or 3 (RGB), bytesPerValue is 1. It
// repeats subsampled chroma. Decoders that interpolate chroma return slightly different values.
func DecodeJPEG(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	s := shape{"jpeg", pixels, channels, bytesPerValue}
	if err := s.check(3, 1, dst); err != nil {
		return err
	}
	config, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return s.broken(err)
	}
	if err := s.checkArea(config.Width, config.Height); err != nil {
		return err
	}
	if err := s.checkSamples(jpegChannels(config.ColorModel), 8); err != nil {
		return err
	}
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return s.broken(err)
	}
	size := m.Bounds().Size()
	switch m := m.(type) {
	case *image.Gray:
		rows(dst, m.Pix, m.Stride, size, 1, func(dst, row []byte) { copy(dst, row) })
	case *image.YCbCr:
		copyYCbCr(dst, m)
	case *image.RGBA: // stored as RGB
		rows(dst, m.Pix, m.Stride, size, 4, dropAlpha)
	default:
		return s.fault("picture", samples(channels, 8), fmt.Sprintf("%T", m))
	}
	return nil
}

// jpegChannels returns the samples per pixel of a JPEG picture.
func jpegChannels(m color.Model) int {
	switch m {
	case color.GrayModel:
		return 1
	case color.CMYKModel:
		return 4
	}
	return 3
}

// copyYCbCr converts a picture to RGB as JFIF does (ITU-T T.871, §7).
func copyYCbCr(dst []byte, m *image.YCbCr) {
	shift := 0 // x >> shift is the column of the chroma sample
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		shift = 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		shift = 2
	}
	for y := range m.Rect.Dy() {
		chroma := m.COffset(0, y)
		cb, cr := m.Cb[chroma:], m.Cr[chroma:]
		for x, luma := range m.Y[m.YOffset(0, y):][:m.Rect.Dx()] {
			dst[0], dst[1], dst[2] = color.YCbCrToRGB(luma, cb[x>>shift], cr[x>>shift])
			dst = dst[3:]
		}
	}
}
