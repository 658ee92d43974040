package terminal

import (
	"bufio"
	"image"
	"io"
)

// ramp has the characters of grey levels, dark to bright, for bright text on a dark ground.
const ramp = " .:-=+*#%@"

// drawText writes a character for each pixel.
func drawText(w io.Writer, img *image.NRGBA) error {
	out := bufio.NewWriter(w)
	b := img.Rect
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := img.NRGBAAt(x, y)
			luma := (299*int(c.R) + 587*int(c.G) + 114*int(c.B)) / 1000 // ITU-R BT.601
			out.WriteByte(ramp[luma*len(ramp)/256])                     // an error is that of Flush
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}
