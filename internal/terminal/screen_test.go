package terminal

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-sixel"
)

// picture returns a picture of 3 × 3 pixels: greys, colours, black.
func picture() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 3, 3))
	for i, c := range [][3]uint8{{0, 0, 0}, {128, 128, 128}, {255, 255, 255}, {255, 0, 0}, {255, 0, 0}, {0, 0, 255}, {8, 8, 8}, {8, 8, 8}, {0, 95, 0}} {
		img.SetNRGBA(i%3, i/3, color.NRGBA{c[0], c[1], c[2], 255})
	}
	return img
}

// TestDraw compares with the bytes that terminals get.
func TestDraw(t *testing.T) {
	const encoded = "iVBORw0KGgo"
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
		{Screen{Form: Sixel}, "\x1bP0;0;8q\"1;1;3;3" +
			"#0;2;0;0;0#1;2;0;0;0#2;2;50;50;50#3;2;100;100;100#4;2;100;0;0#5;2;0;0;100#6;2;3;3;3#7;2;0;37;0" +
			"#1@$#2?@$#3??@$#4AA$#5??A$#6CC$#7??C\x1b\\\n"},
		{Screen{Form: Kitty, Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}, "\x1b_Ga=T,f=100,q=2,c=40,m=0;" + encoded},
	} {
		var b bytes.Buffer
		if err := test.screen.Draw(&b, picture()); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != test.want && (test.screen.Form != Kitty || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: got %q, want %q", test.screen.Form, got, test.want)
		}
	}
	if err := (Screen{Form: "smoke"}).Draw(new(bytes.Buffer), picture()); err == nil {
		t.Error("a form that does not exist: no error")
	}
}

// noise returns a picture that does not compress.
func noise(width, height int, grey bool) *image.NRGBA {
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := 0; i < len(img.Pix); i += 4 {
		c := [3]uint8{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32())}
		if grey {
			c[1], c[2] = c[0], c[0]
		}
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c[0], c[1], c[2], 255
	}
	return img
}

var kittyChunks = regexp.MustCompile("\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\\\")

// TestKittyDecodes decodes a picture of many chunks back to its pixels.
func TestKittyDecodes(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {37, 29}, {200, 150}} {
		want := noise(size.X, size.Y, false)
		var b bytes.Buffer
		if err := (Screen{Form: Kitty, Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}).Draw(&b, want); err != nil {
			t.Fatal(err)
		}
		var data []byte
		chunks := kittyChunks.FindAllSubmatch(b.Bytes(), -1)
		for i, m := range chunks {
			if last := strings.HasSuffix(string(m[1]), "m=0"); last != (i == len(chunks)-1) || len(m[2]) > 4096 || i > 0 && len(m[1]) != 3 {
				t.Errorf("chunk %d of %d has %d bytes and the keys %s", i, len(chunks), len(m[2]), m[1])
			}
			data = append(data, m[2]...)
		}
		if rest := kittyChunks.ReplaceAllString(b.String(), ""); rest != "\n" {
			t.Errorf("outside of the chunks: %q", rest)
		}
		img, err := png.Decode(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, img, want, 0)
	}
}

// TestSixelDecodes decodes sixels back to pixels. Grey values are exact up to the percentages of the format. Of many colours,
// there are the nearest.
func TestSixelDecodes(t *testing.T) {
	for _, test := range []struct {
		img       *image.NRGBA
		tolerance int
	}{
		{picture(), 2},
		{noise(1, 1, true), 2},
		{noise(101, 61, true), 2},
		{noise(50, 40, false), 64},
	} {
		var b bytes.Buffer
		if err := (Screen{Form: Sixel}).Draw(&b, test.img); err != nil {
			t.Fatal(err)
		}
		var img image.Image
		if err := sixel.NewDecoder(&b).Decode(&img); err != nil {
			t.Fatal(err)
		}
		compare(t, img, test.img, test.tolerance)
	}
}

// compare compares pictures. Values of colours may differ by the tolerance.
func compare(t *testing.T, got image.Image, want *image.NRGBA, tolerance int) {
	t.Helper()
	if got.Bounds() != want.Rect {
		t.Fatalf("got a picture of %v, want %v", got.Bounds(), want.Rect)
	}
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			g, w := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA), want.NRGBAAt(x, y)
			for _, d := range []int{int(g.R) - int(w.R), int(g.G) - int(w.G), int(g.B) - int(w.B)} {
				if abs(d) > tolerance {
					t.Fatalf("pixel %d,%d is %v, want %v", x, y, g, w)
				}
			}
		}
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
		{Screen{Form: Sixel, Columns: 80, Rows: 24, Cell: image.Pt(8, 16)}, 640, 320, 1},
		{Screen{Form: Kitty, Columns: 1000, Rows: 1000, Cell: image.Pt(100, 100)}, 1600, 1200, 1},
		{Screen{Form: Sixel, Columns: 1, Rows: 1, Cell: image.Pt(8, 16)}, 8, 16, 1},
	} {
		if w, h, a := test.screen.Pixels(); w != test.width || h != test.height || a != test.aspect {
			t.Errorf("%v: got %d × %d, %v", test.screen, w, h, a)
		}
	}
}
