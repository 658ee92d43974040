package terminal

import (
	"image"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// defaultScreen is what most terminals have at least. Characters are usually twice as high as wide.
var defaultScreen = Screen{Form: Text, Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}

// Detect returns the best form for an output and the size of its screen. What is no terminal gets text. getenv is
// [os.Getenv].
func Detect(out io.Writer, getenv func(string) string) Screen {
	s := defaultScreen
	s.setSize(number(getenv("COLUMNS")), number(getenv("LINES")), 0, 0)
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	if w, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ); err == nil {
		s.setSize(int(w.Col), int(w.Row), int(w.Xpixel), int(w.Ypixel))
	}
	name := getenv("TERM")
	if getenv("NO_COLOR") != "" || !hasColours(name) {
		return s
	}
	s.Form, s.TrueColour = Blocks, hasTrueColour(name, getenv("COLORTERM"))
	return s
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // 0 is unknown
	return n
}

// Limits of what a terminal may say. Pictures, and the time to draw them, grow with these.
const (
	maxCells      = 1000
	maxCellPixels = 100
)

// setSize sets the size in cells, and the size of a cell from that of all in pixels. Absurd numbers do not count.
func (s *Screen) setSize(columns, rows, width, height int) {
	if columns > 0 && rows > 0 && width/columns >= 2 && height/rows >= 2 &&
		max(width/columns, height/rows) <= maxCellPixels {
		s.Cell = image.Pt(width/columns, height/rows)
	}
	if columns > 0 {
		s.Columns = min(columns, maxCells)
	}
	if rows > 0 {
		s.Rows = min(rows, maxCells)
	}
}

// hasColours reports whether a terminal of this name has 256 colours. Terminals of the last decades have them, even
// those that call themselves xterm.
func hasColours(name string) bool {
	return name != "" && name != "dumb" && !strings.HasPrefix(name, "vt")
}

// hasTrueColour reports whether a terminal has all colours. ssh passes TERM on, but not COLORTERM.
func hasTrueColour(name, colorterm string) bool {
	if colorterm == "truecolor" || colorterm == "24bit" {
		return true
	}
	for _, known := range []string{"-direct", "kitty", "ghostty", "foot", "alacritty", "wezterm"} {
		if strings.Contains(name, known) {
			return true
		}
	}
	return false
}
