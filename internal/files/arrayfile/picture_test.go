package arrayfile

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

func pngOf(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func jpegOf(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// drawn returns a picture after setting each pixel to a colour of its position.
func drawn[M interface{ Set(x, y int, c color.Color) }](m M, at func(x, y int) color.Color) M {
	for y := range 3 {
		for x := range 5 {
			m.Set(x, y, at(x, y))
		}
	}
	return m
}

// TestPNG reads all kinds of PNG, alone and as planes.
func TestPNG(t *testing.T) {
	r := image.Rect(0, 0, 5, 3)
	v := func(x, y int) uint8 { return uint8(10*y + x + 1) }
	w := func(x, y int) uint16 { return uint16(v(x, y))<<8 | 7 }
	palette := make(color.Palette, 40)
	for i := range palette {
		palette[i] = color.RGBA{uint8(i), 0, 0, 255}
	}
	for name, test := range map[string]struct {
		m        image.Image
		typ      volume.Type
		channels int
		value    func(x, y, c int) uint16
	}{
		"gray": {drawn(image.NewGray(r), func(x, y int) color.Color { return color.Gray{v(x, y)} }), volume.Uint8, 1,
			func(x, y, _ int) uint16 { return uint16(v(x, y)) }},
		"gray16": {drawn(image.NewGray16(r), func(x, y int) color.Color { return color.Gray16{w(x, y)} }),
			volume.Uint16, 1, func(x, y, _ int) uint16 { return w(x, y) }},
		"RGB": {drawn(image.NewRGBA(r), func(x, y int) color.Color { return color.RGBA{v(x, y), 2, 3, 255} }),
			volume.Uint8, 3, func(x, y, c int) uint16 { return []uint16{uint16(v(x, y)), 2, 3}[c] }},
		"RGBA": {drawn(image.NewNRGBA(r), func(x, y int) color.Color { return color.NRGBA{v(x, y), 2, 3, 4} }),
			volume.Uint8, 4, func(x, y, c int) uint16 { return []uint16{uint16(v(x, y)), 2, 3, 4}[c] }},
		"RGB16": {drawn(image.NewRGBA64(r), func(x,
			y int) color.Color {
			return color.RGBA64{w(x, y), 2, 3, 0xffff}
		}), volume.Uint16, 3, func(x, y, c int) uint16 { return []uint16{w(x, y), 2, 3}[c] }},
		"RGBA16": {drawn(image.NewNRGBA64(r), func(x, y int) color.Color { return color.NRGBA64{w(x, y), 2, 3, 4} }),
			volume.Uint16, 4, func(x, y, c int) uint16 { return []uint16{w(x, y), 2, 3, 4}[c] }},
		"palette": {drawn(image.NewPaletted(r, palette), func(x, y int) color.Color { return palette[v(x, y)] }),
			volume.Uint8, 1, func(x, y, _ int) uint16 { return uint16(v(x, y)) }},
		"4 bits": {drawn(image.NewPaletted(r, palette[:16]), func(x, y int) color.Color { return palette[x+y] }),
			volume.Uint8, 1, func(x, y, _ int) uint16 { return uint16(x + y) }},
	} {
		dir := t.TempDir()
		for z := range 2 {
			write(t, filepath.Join(dir, fmt.Sprintf("z%d.png", z)), pngOf(test.m))
		}
		g := volume.Grid{Size: volume.Vec{5, 3, 2}, Block: volume.Cube(1), Type: test.typ, Channels: test.channels}
		var want []byte
		for i := range 30 {
			for c := range test.channels {
				v := test.value(i%5, i/5%3, c)
				if want = append(want, byte(v)); test.typ == volume.Uint16 {
					want = append(want, byte(v>>8))
				}
			}
		}
		a := mustOpen(t, dir)
		if got := voxelsOf(t, a); a.Grid != g || !a.WholePlanes() || !bytes.Equal(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v, %v", name, a.Grid, got, g, want)
		}
		if labels := a.Labels.Content == Segmentation; labels != (name == "palette" || name == "4 bits") {
			t.Errorf("%s: labels %v", name, labels)
		}
		box := volume.Box{Min: volume.Vec{1, 1, 1}, Max: volume.Vec{3, 3, 2}}
		part := make([]byte, 4*g.VoxelBytes())
		if err := a.Read(t.Context(), box, part); err != nil || !bytes.Equal(part, boxOf(want, g, box)) {
			t.Errorf("%s: box differs, error %v", name, err)
		}
		single := mustOpen(t, filepath.Join(dir, "z1.png"))
		if got := voxelsOf(t, single); !bytes.Equal(got, want[len(want)/2:]) {
			t.Errorf("%s: single file differs", name)
		}
	}
}

// TestJPEG reads gray and colour. JPEG does not keep values, but those of a plain colour nearly.
func TestJPEG(t *testing.T) {
	r := image.Rect(0, 0, 5, 3)
	for channels, m := range map[int]image.Image{
		1: drawn(image.NewGray(r), func(int, int) color.Color { return color.Gray{200} }),
		3: drawn(image.NewRGBA(r), func(int, int) color.Color { return color.RGBA{200, 100, 50, 255} }),
	} {
		path := filepath.Join(t.TempDir(), "f.jpg")
		write(t, path, jpegOf(m))
		a := mustOpen(t, path)
		if a.Grid.Channels != channels || a.Grid.Size != (volume.Vec{5, 3, 1}) || a.Grid.Type != volume.Uint8 {
			t.Errorf("%d channels: got %+v", channels, a.Grid)
		}
		for i, v := range voxelsOf(t, a) {
			if want := []int{200, 100, 50}[i%channels]; int(v) < want-3 || int(v) > want+3 {
				t.Errorf("%d channels, value %d: got %d, want about %d", channels, i, v, want)
			}
		}
	}
}

// TestPictureErrors: pictures that would change values, that lie about their size or that are damaged are errors.
func TestPictureErrors(t *testing.T) {
	gray := pngOf(image.NewGray(image.Rect(0, 0, 5, 3)))
	change := func(at int, v ...byte) []byte { b := bytes.Clone(gray); copy(b[at:], v); return b }
	for want, b := range map[string][]byte{
		"bit depth at byte 24: expected 1, 2, 4, 8 or 16, found 3": change(24, 3),
		"colour type at byte 25: expected gray, RGB":               change(25, 4),
		"size at byte 16: expected at most 2147483647":             change(16, 0x80),
		"pixels at byte 0: expected at least":                      change(16, 0, 1, 0, 0, 0, 1, 0, 0, 8),
		"pixels at byte 0: expected at most 4294967296":            change(16, 0, 4, 0, 0, 0, 1, 0, 0, 8),
		"first chunk at byte 12: expected IHDR":                    change(12, 'I', 'D'),
		"0,0,1":                                                    change(16, 0, 0, 0, 0),
		"JPEG: ":                                                   []byte("\xff\xd8\xff\xe0"),
	} {
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, b)
		if a, err := Open(path); err == nil || !strings.Contains(err.Error(), want) && want != "0,0,1" {
			t.Errorf("got %v, %v, want %q", a, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, gray[:len(gray)-20])
	a := mustOpen(t, path)
	if err := a.Read(t.Context(), volume.Box{Max: a.Grid.Size}, make([]byte, 15)); err == nil ||
		!strings.Contains(err.Error(), path+": PNG: ") {
		t.Errorf("damaged: %v", err)
	}
}

// TestMixedDirectory: the files of a directory have one format, and do not change while they are read.
func TestMixedDirectory(t *testing.T) {
	dir := t.TempDir()
	gray := pngOf(image.NewGray(image.Rect(0, 0, 5, 3)))
	write(t, filepath.Join(dir, "1.png"), gray)
	write(t, filepath.Join(dir, "2.png"), gray)
	a := mustOpen(t, dir)
	if err := os.Chtimes(filepath.Join(dir, "2.png"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	err := a.Read(t.Context(), volume.Box{Max: a.Grid.Size}, make([]byte, 30))
	if err == nil || !strings.Contains(err.Error(), "2.png: the file has changed") || a.Unchanged() == nil {
		t.Errorf("got %v, %v", err, a.Unchanged())
	}
	write(t, filepath.Join(dir, "3.png"), []byte("text"))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(),
		"3.png: magic at byte 0: expected that of a TIFF, PNG or JPEG") {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(dir, "overview.jpg"), nil)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(),
		"expected planes of one format, found 1.png beside overview.jpg") {
		t.Errorf("got %v", err)
	}
}
