package arrayfile

import (
	"encoding/binary"
	"fmt"
	"image/png"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// Colour types of PNG: PNG specification, 11.2.2.
const (
	pngGray    = 0
	pngRGB     = 2
	pngPalette = 3
	pngRGBA    = 6
)

var pngFormat = format{name: "PNG", is: startsWith(pngMagic), open: asPlane(openPNG), plane: openPNG,
	suffixes: []string{".png"}}

// openPNG reads the header of a PNG file. The indices of a palette are labels.
func openPNG(a *Array, f *file, _ bool) (plane, error) {
	start, err := f.start()
	if err != nil {
		return nil, err
	}
	if len(start) < 33 || string(start[12:16]) != "IHDR" {
		return nil, invalid(f.Name(), "first chunk", 12, "IHDR",
			fmt.Sprintf("%q", start[min(12, len(start)):min(16, len(start))]))
	}
	width, height := binary.BigEndian.Uint32(start[16:]), binary.BigEndian.Uint32(start[20:])
	if max(width, height) > math.MaxInt32 {
		return nil, invalid(f.Name(), "size", 16, "at most 2147483647 pixels", fmt.Sprintf("%d × %d", width, height))
	}
	depth, colour := start[24], start[25]
	t, channels := volume.Uint8, map[byte]int{pngGray: 1, pngRGB: 3, pngPalette: 1, pngRGBA: 4}[colour]
	if depth == 16 {
		t = volume.Uint16
	}
	switch {
	case channels == 0:
		return nil, invalid(f.Name(), "colour type", 25, "gray, RGB, RGBA or a palette", fmt.Sprint(colour))
	case depth < 1 || depth > 16 || depth&(depth-1) != 0 || depth < 8 && colour != pngPalette && colour != pngGray:
		return nil, invalid(f.Name(), "bit depth", 24, "1, 2, 4, 8 or 16", fmt.Sprint(depth))
	case depth == 1 && colour == pngGray:
		a.describeMask("PNG")
	case colour == pngPalette:
		a.describePalette("PNG")
	}
	// DEFLATE makes at most 1032 bytes of one.
	ratio := 1032 * 8 / (max(1, int64(depth)) * int64(channels))
	p, err := newPicture(f, "PNG", volume.Vec{int(width), int(height), 1}, t, channels, ratio)
	if err != nil {
		return nil, err
	}
	p.decode = png.Decode
	if depth < 8 && colour == pngGray {
		p.decode = decodeFewBits(depth)
	}
	return p, nil
}
