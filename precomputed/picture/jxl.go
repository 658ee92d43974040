package picture

import (
	"fmt"
	"image"
)

// DecodeJXL decodes a JPEG XL picture like [DecodePNG], bare or in a container.
//
// The decoder is libjxl, run as WebAssembly: it cannot harm the program. A call takes
// 30 to 100 bytes a pixel beside dst, and is stopped where a broken picture wants far
// more: at 64 MiB for chunks of up to 2^17 pixels, at 256 MiB for those of seven times
// that, at 1 GiB for all others. The first call compiles the decoder, which takes
// some tenths of a second.
func DecodeJXL(data []byte, pixels, channels, bytesPerValue int, dst []byte) error {
	s := shape{"jxl", pixels, channels, bytesPerValue}
	if err := s.check(4, 2, dst); err != nil {
		return err
	}
	h, err := s.parseJXL(data)
	if err != nil {
		return err
	}
	if err := s.checkArea(h.width, h.height); err != nil {
		return err
	}
	if err := s.checkSamples(h.channels, h.bits); err != nil {
		return err
	}
	l, err := libjxlFor(pixels)
	if err != nil {
		return fmt.Errorf("jxl: cannot run the decoder: %w", err)
	}
	rgba, err := l.decode(data, h)
	if err != nil {
		return s.broken(err)
	}
	pick := [][]int{{0}, {0, 3}, {0, 1, 2}, {0, 1, 2, 3}}[channels-1]
	stride := h.width * 4 * bytesPerValue
	rows(dst, rgba, stride, image.Pt(h.width, h.height), 4*bytesPerValue, func(dst, row []byte) {
		pickSamples(dst, row, 4, bytesPerValue, pick)
	})
	return nil
}
