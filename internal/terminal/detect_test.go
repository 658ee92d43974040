package terminal

import (
	"bytes"
	"image"
	"io"
	"os"
	"path/filepath"
	"strings"
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
		if got, err := Detect(out, func(name string) string { return env[name] }); got != want || err != nil {
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
			t.Errorf("%d × %d cells, %d × %d pixels: got %v, want %v", test.columns, test.rows, test.width, test.height, s, test.want)
		}
	}
}

// TestApply: what answers of terminals mean.
func TestApply(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		form         Form
		cell         image.Point
	}{
		{"nothing", "", Blocks, image.Pt(8, 16)},
		{"xterm", "\x1b[6;13;6t\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c", Blocks, image.Pt(6, 13)},
		{"xterm with sixel", "\x1b[6;13;6t\x1b[?64;1;2;4;6;9;15c", Sixel, image.Pt(6, 13)},
		{"sixel alone", "\x1b[?4c", Sixel, image.Pt(8, 16)},
		{"44 is not 4", "\x1b[?64;44c", Blocks, image.Pt(8, 16)},
		{"kitty", "\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;c", Kitty, image.Pt(10, 20)},
		{"both", "\x1b_Gi=31;OK\x1b\\\x1b[?65;4;6c", Kitty, image.Pt(8, 16)},
		{"no kitty", "\x1b_Gi=31;EINVAL:unknown\x1b\\\x1b[?65;6c", Blocks, image.Pt(8, 16)},
		{"keys of the user before", "ls\r\x1b[A\x1b[?62;4c", Sixel, image.Pt(8, 16)},
		{"absurd cells", "\x1b[6;0;99999999999999999999t\x1b[?62c", Blocks, image.Pt(8, 16)},
		{"cut off", "\x1b[6;20;10t\x1b[?62;4", Blocks, image.Pt(10, 20)},
	} {
		s := defaultScreen
		s.Form = Blocks
		if s.apply([]byte(test.answer)); s.Form != test.form || s.Cell != test.cell {
			t.Errorf("%s: got %s with cells of %v, want %s of %v", test.name, s.Form, s.Cell, test.form, test.cell)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		term, colorterm            string
		colours, trueColour, kitty bool
	}{
		{"", "truecolor", false, true, true},
		{"dumb", "", false, false, true},
		{"vt220", "", false, false, true},
		{"xterm", "", true, false, true},
		{"xterm-256color", "truecolor", true, true, true},
		{"xterm-256color", "24bit", true, true, true},
		{"xterm-direct", "", true, true, true},
		{"xterm-kitty", "", true, true, true},
		{"tmux-256color", "", true, false, false},
		{"screen", "truecolor", true, true, false},
	} {
		if hasColours(test.term) != test.colours || hasTrueColour(test.term, test.colorterm) != test.trueColour {
			t.Errorf("%q, %q: got %v and %v", test.term, test.colorterm, hasColours(test.term), hasTrueColour(test.term, test.colorterm))
		}
		q := question(test.term)
		if strings.Contains(q, askKitty) != test.kitty || !strings.HasSuffix(q, askAttributes+eraseLine) {
			t.Errorf("%q: asked %q", test.term, q)
		}
	}
}

// FuzzApply: whatever a terminal answers, the screen stays one that can be drawn on.
func FuzzApply(f *testing.F) {
	f.Add([]byte("\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;4c"))
	f.Add([]byte("\x1b[6;99999999999999999999;0t\x1b[?;;4;c"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		s := defaultScreen
		s.apply(answer)
		w, h, aspect := s.Pixels()
		if w < 1 || h < 1 || w > maxWidth || h > maxHeight || aspect < 0.01 || aspect > 100 || s.Columns != 80 || s.Rows != 24 {
			t.Errorf("%q: %v has %d × %d pixels of %v", answer, s, w, h, aspect)
		}
	})
}
