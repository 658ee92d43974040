package terminal

import (
	"bytes"
	"image"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestDetectFile: a file or a pipe gets text, whatever the environment promises.
func TestDetectFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "picture"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env := map[string]string{"TERM": "xterm-kitty", "COLORTERM": "truecolor", "COLUMNS": "100", "LINES": "-3"}
	want := Screen{Form: Text, Columns: 100, Rows: 24, Cell: image.Pt(8, 16)}
	for _, out := range []io.Writer{f, new(bytes.Buffer)} {
		if got := Detect(out, func(name string) string { return env[name] }); got != want {
			t.Errorf("%T: got %v, want %v", out, got, want)
		}
	}
}

func TestSetSize(t *testing.T) {
	for _, test := range []struct {
		columns, rows, width, height int
		want                         Screen
	}{
		{0, 0, 0, 0, Screen{Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}},
		{120, 50, 0, 0, Screen{Columns: 120, Rows: 50, Cell: image.Pt(8, 16)}},
		{120, 50, 1200, 1000, Screen{Columns: 120, Rows: 50, Cell: image.Pt(10, 20)}},
		{120, 0, 1200, 1000, Screen{Columns: 120, Rows: 24, Cell: image.Pt(8, 16)}},
		{120, 50, 65535, 65535, Screen{Columns: 120, Rows: 50, Cell: image.Pt(8, 16)}},
		{120, 50, 120, 50, Screen{Columns: 120, Rows: 50, Cell: image.Pt(8, 16)}},
		{65535, 65535, 0, 0, Screen{Columns: 1000, Rows: 1000, Cell: image.Pt(8, 16)}},
		{-1, -1, -1, -1, Screen{Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}},
	} {
		s := Screen{Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}
		if s.setSize(test.columns, test.rows, test.width, test.height); s != test.want {
			t.Errorf("%d × %d cells, %d × %d pixels: got %v, want %v", test.columns, test.rows, test.width, test.height,
				s, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		term, colorterm     string
		colours, trueColour bool
	}{
		{"", "truecolor", false, true},
		{"dumb", "", false, false},
		{"vt220", "", false, false},
		{"xterm", "", true, false},
		{"xterm-256color", "truecolor", true, true},
		{"xterm-256color", "24bit", true, true},
		{"xterm-direct", "", true, true},
		{"xterm-kitty", "", true, true},
		{"tmux-256color", "", true, false},
		{"screen", "truecolor", true, true},
	} {
		if hasColours(test.term) != test.colours || hasTrueColour(test.term, test.colorterm) != test.trueColour {
			t.Errorf("%q, %q: got %v and %v", test.term, test.colorterm, hasColours(test.term),
				hasTrueColour(test.term, test.colorterm))
		}
	}
}
