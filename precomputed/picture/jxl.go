package picture

import (
	"fmt"
	"image"
)

// DecodeJXL decodes a JPEG XL picture, bare or in a container, as [DecodePNG] does.
//
// The decoder is libjxl. It runs as WebAssembly, so it cannot access memory or files of the program. A call takes 30
// to 100 bytes per pixel, apart from dst. A picture that needs much more memory is an error. The limit is 64 MiB for
// up to 2^17 pixels, 256 MiB for up to 7 × 2^17, and 1 GiB for more. The first call compiles the decoder, which takes
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
