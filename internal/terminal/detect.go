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
// [os.Getenv]. Detect reads what the user types while it waits for the terminal. The error is [ErrInterrupted] if that is a
// Ctrl-C, which is no signal then.
func Detect(out io.Writer, getenv func(string) string) (Screen, error) {
	s := defaultScreen
	s.setSize(number(getenv("COLUMNS")), number(getenv("LINES")), 0, 0)
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s, nil
	}
	fd := int(file.Fd())
	if w, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil {
		s.setSize(int(w.Col), int(w.Row), int(w.Xpixel), int(w.Ypixel))
	}
	name := getenv("TERM")
	if getenv("NO_COLOR") != "" || !hasColours(name) {
		return s, nil
	}
	s.Form, s.TrueColour = Blocks, hasTrueColour(name, getenv("COLORTERM"))
	if answers(name) && isForeground(fd) {
		answer, err := ask(question(name))
		if err != nil {
			return s, err
		}
		s.apply(answer)
	}
	return s, nil
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
	if columns > 0 && rows > 0 {
		s.setCell(width/columns, height/rows)
	}
	if columns > 0 {
		s.Columns = min(columns, maxCells)
	}
	if rows > 0 {
		s.Rows = min(rows, maxCells)
	}
}

func (s *Screen) setCell(width, height int) {
	if width >= 2 && height >= 2 && max(width, height) <= maxCellPixels {
		s.Cell = image.Pt(width, height)
	}
}

// hasColours reports whether a terminal of this name has 256 colours. Terminals of the last decades have them, even those
// that call themselves xterm.
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

// answers reports whether to ask a terminal of this name. The console of Linux has no graphics, and prints questions that it
// does not know.
func answers(name string) bool { return name != "linux" }

// isForeground reports whether the terminal is the controlling terminal of this process, and the process is not in the
// background. Otherwise a question would stop the process.
func isForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
