package terminal

import (
	"bytes"
	"image"
	"image/color"
	"testing"
)

// picture returns a picture of 3 × 3 pixels: greys, colours, black.
func picture() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 3, 3))
	for i, c := range [][3]uint8{{0, 0, 0}, {128, 128, 128}, {255, 255, 255}, {255, 0, 0}, {255, 0, 0}, {0, 0, 255},
		{8, 8, 8}, {8, 8, 8}, {0, 95, 0}} {
		img.SetNRGBA(i%3, i/3, color.NRGBA{c[0], c[1], c[2], 255})
	}
	return img
}

// TestDraw compares with the bytes that terminals get.
func TestDraw(t *testing.T) {
	for _, test := range []struct {
		screen Screen
		want   string
	}{
		{Screen{Form: Text}, " +@\n::.\n  :\n"},
		{Screen{Form: Blocks, TrueColour: true}, "" +
			"\x1b[38;2;0;0;0;48;2;255;0;0m▀\x1b[38;2;128;128;128;48;2;255;0;0m▀\x1b[38;2;255;255;255;48;2;0;0;255m▀\x1b[0m\n" +
			"\x1b[38;2;8;8;8m▀▀\x1b[38;2;0;95;0m▀\x1b[0m\n"},
		{Screen{Form: Blocks}, "" +
			"\x1b[38;5;16;48;5;196m▀\x1b[38;5;244;48;5;196m▀\x1b[38;5;231;48;5;21m▀\x1b[0m\n" +
			"\x1b[38;5;232m▀▀\x1b[38;5;22m▀\x1b[0m\n"},
	} {
		var b bytes.Buffer
		if err := test.screen.Draw(&b, picture()); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.screen.Form, got, test.want)
		}
	}
	if err := (Screen{Form: "smoke"}).Draw(new(bytes.Buffer), picture()); err == nil {
		t.Error("a form that does not exist: no error")
	}
}

// TestIndex256: the colours of the palette are their own nearest ones.
func TestIndex256(t *testing.T) {
	for i := range 216 {
		c := color.NRGBA{uint8(cubeLevels[i/36]), uint8(cubeLevels[i/6%6]), uint8(cubeLevels[i%6]), 255}
		if got := index256(c); got != firstOfCube+i {
			t.Errorf("%v: got %d, want %d", c, got, firstOfCube+i)
		}
	}
	for i := range greys {
		level := uint8(greyLevel(i))
		if got := index256(color.NRGBA{level, level, level, 255}); got != firstGrey+i {
			t.Errorf("grey %d: got %d, want %d", level, got, firstGrey+i)
		}
	}
	for v := range 256 {
		n := index256(color.NRGBA{uint8(v), uint8(v), uint8(v), 255})
		level := greyLevel(n - firstGrey)
		if n < firstGrey {
			level = cubeLevels[(n-firstOfCube)%6]
		}
		if abs(level-v) > 9 {
			t.Errorf("grey %d is drawn as %d", v, level)
		}
	}
}

func TestPixels(t *testing.T) {
	for _, test := range []struct {
		screen        Screen
		width, height int
		aspect        float64
	}{
		{Screen{Form: Text, Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}, 80, 20, 2},
		{Screen{Form: Blocks, Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}, 80, 40, 1},
		{Screen{Form: Blocks, Columns: 80, Rows: 24, Cell: image.Pt(10, 25)}, 80, 40, 1.25},
		{Screen{Form: Text, Columns: 1, Rows: 1, Cell: image.Pt(8, 16)}, 1, 1, 2},
	} {
		if w, h, a := test.screen.Pixels(); w != test.width || h != test.height || a != test.aspect {
			t.Errorf("%v: got %d × %d, %v", test.screen, w, h, a)
		}
	}
}
