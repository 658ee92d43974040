package terminal

import (
	"bufio"
	"image"
	"io"

	"github.com/mattn/go-sixel"
)

// drawSixel writes the picture as sixels. Colours of sixels are percentages of red, green and blue, so all grey values fit
// the palette. A picture of more than 255 colours has the nearest ones.
func drawSixel(w io.Writer, img *image.NRGBA) error {
	rounded := image.NewNRGBA(img.Rect)
	for i, v := range img.Pix {
		percent := (int(v)*100 + 127) / 255
		rounded.Pix[i] = uint8((percent*255 + 99) / 100) // the encoder rounds down
	}
	for i := 3; i < len(rounded.Pix); i += 4 {
		rounded.Pix[i] = 255
	}
	out := bufio.NewWriter(w)
	if err := sixel.NewEncoder(out).Encode(rounded); err != nil {
		return err
	}
	out.WriteByte('\n') // an error is that of Flush
	return out.Flush()
}
