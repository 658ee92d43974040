package terminal

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"io"
)

const (
	upperHalf = "▀"
	reset     = "\x1b[0m"
)

// drawBlocks writes two rows of pixels as a line of upper half blocks: the foreground is the upper pixel, the
// background the lower one.
func (s Screen) drawBlocks(w io.Writer, img *image.NRGBA) error {
	out := bufio.NewWriter(w)
	b := img.Rect
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		last := ""
		for x := b.Min.X; x < b.Max.X; x++ {
			sgr := "\x1b[" + s.colour(38, img.NRGBAAt(x, y))
			if y+1 < b.Max.Y {
				sgr += ";" + s.colour(48, img.NRGBAAt(x, y+1))
			}
			if sgr += "m"; sgr != last {
				out.WriteString(sgr) // an error is that of Flush
				last = sgr
			}
			out.WriteString(upperHalf)
		}
		out.WriteString(reset + "\n")
	}
	return out.Flush()
}

// colour returns the parameters of SGR for a colour: kind is 38 of a foreground and 48 of a background (ECMA-48
// §8.3.117, ISO 8613-6).
func (s Screen) colour(kind int, c color.NRGBA) string {
	if s.TrueColour {
		return fmt.Sprintf("%d;2;%d;%d;%d", kind, c.R, c.G, c.B)
	}
	return fmt.Sprintf("%d;5;%d", kind, index256(c))
}

// The palette of 256 colours: 16 that the user may choose, a cube of 6³, and 24 grey levels.
const (
	firstOfCube = 16
	firstGrey   = 232
	greys       = 24
)

var cubeLevels = [6]int{0, 95, 135, 175, 215, 255}

func greyLevel(i int) int { return 8 + 10*i }

// index256 returns the nearest colour of the palette that no user changes.
func index256(c color.NRGBA) int {
	r, g, b := nearestLevel(c.R), nearestLevel(c.G), nearestLevel(c.B)
	inCube := firstOfCube + 36*r + 6*g + b
	mean := (int(c.R) + int(c.G) + int(c.B)) / 3
	grey := min(max((mean-greyLevel(0)+5)/10, 0), greys-1)
	level := greyLevel(grey)
	if distance(c, level, level, level) < distance(c, cubeLevels[r], cubeLevels[g], cubeLevels[b]) {
		return firstGrey + grey
	}
	return inCube
}

func nearestLevel(v uint8) int {
	best := 0
	for i, level := range cubeLevels {
		if abs(level-int(v)) < abs(cubeLevels[best]-int(v)) {
			best = i
		}
	}
	return best
}

func distance(c color.NRGBA, r, g, b int) int {
	dr, dg, db := int(c.R)-r, int(c.G)-g, int(c.B)-b
	return dr*dr + dg*dg + db*db
}

func abs(n int) int { return max(n, -n) }
