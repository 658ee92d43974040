package terminal

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
)

// kittyChunk is the largest payload of an escape sequence, by the protocol.
const kittyChunk = 4096

// drawKitty writes the picture as PNG in base64, in the graphics protocol of kitty
// (https://sw.kovidgoyal.net/kitty/graphics-protocol). A picture that had to be smaller than the screen is scaled to
// it by the terminal. The terminal sends no answer, which could become the next command of the user.
func (s Screen) drawKitty(w io.Writer, img *image.NRGBA) error {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return err
	}
	rest := base64.StdEncoding.EncodeToString(b.Bytes())
	out := bufio.NewWriter(w)
	control := fmt.Sprintf("a=T,f=100,q=2,c=%d,", s.columnsOf(img))
	for len(rest) > kittyChunk {
		fmt.Fprintf(out, "\x1b_G%sm=1;%s\x1b\\", control, rest[:kittyChunk])
		rest, control = rest[kittyChunk:], ""
	}
	fmt.Fprintf(out, "\x1b_G%sm=0;%s\x1b\\\n", control, rest)
	return out.Flush()
}

// columnsOf returns the width of a picture in cells, as large as the screen has room for. The terminal keeps the aspect
// ratio.
func (s Screen) columnsOf(img image.Image) int {
	size := img.Bounds().Size()
	rows := max(s.Rows-captionRows, 1)
	columns := s.Columns
	if tall := rows * s.Cell.Y * size.X / size.Y; tall < columns*s.Cell.X {
		columns = tall / s.Cell.X
	}
	return max(columns, 1)
}
