package terminal

import (
	"fmt"
	"image"
	"io"
)

// Form is how a picture is drawn.
type Form string

// The forms.
const (
	Blocks Form = "blocks" // characters ▀ in two colours, for two pixels each
	Text   Form = "text"   // characters without colours, one for each pixel
)

// Forms returns all forms.
func Forms() []Form { return []Form{Blocks, Text} }

// Screen is what is known about a terminal.
type Screen struct {
	Form          Form
	Columns, Rows int         // cells, at least 1
	Cell          image.Point // pixels of a cell
	TrueColour    bool        // blocks may have all colours, else they have those of a palette of 256
}

// captionRows are left for text below a picture and for the prompt.
const captionRows = 4

// Pixels returns the size of the largest picture that the screen has room for, and the height of one of its pixels in
// widths of a pixel.
func (s Screen) Pixels() (width, height int, aspect float64) {
	rows := max(s.Rows-captionRows, 1)
	cell := float64(s.Cell.Y) / float64(s.Cell.X)
	if s.Form == Blocks {
		return s.Columns, 2 * rows, cell / 2
	}
	return s.Columns, rows, cell
}

// Draw writes a picture, and ends the line. The picture is opaque, and not larger than Pixels.
func (s Screen) Draw(w io.Writer, img *image.NRGBA) error {
	switch s.Form {
	case Blocks:
		return s.drawBlocks(w, img)
	case Text:
		return drawText(w, img)
	}
	return fmt.Errorf("no form %q", s.Form)
}
