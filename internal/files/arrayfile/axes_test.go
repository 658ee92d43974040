package arrayfile

import (
	"bytes"
	"fmt"
	"image"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// letters returns all orders of the letters of a text.
func letters(text string) (all []string) {
	if len(text) < 2 {
		return []string{text}
	}
	for i := range text {
		for _, rest := range letters(text[:i] + text[i+1:]) {
			all = append(all, text[i:i+1]+rest)
		}
	}
	return all
}

// TestSetAxes reads every box of arrays of all axes in both orders of numpy. The value at x, y, z, c is a function of
// these.
func TestSetAxes(t *testing.T) {
	n := map[byte]int{'x': 2, 'y': 3, 'z': 4, 'c': 3}
	value := func(at map[byte]int) byte { return byte(1 + at['x'] + 2*at['y'] + 6*at['z'] + 24*at['c']) }
	opened := 0
	for _, width := range []int{1, 2, 3, 4, 8} {
		for _, axes := range slices.Concat(letters("xyz"), letters("xyzc"), letters("xy"), letters("xyc"),
			letters("xz")) {
			if c := strings.IndexByte(axes, 'c'); c > 0 && c < len(axes)-1 {
				continue
			}
			for _, order := range []string{"True", "False"} {
				opened++
				path := filepath.Join(t.TempDir(), "file.npy")
				write(t, path, npyOf(axes, order == "True", width, n, value))
				a := mustOpen(t, path)
				if err := a.SetAxes(axes); err != nil {
					t.Fatal(err)
				}
				checkAxes(t, a, axes, n, value, width)
				for _, other := range a.Layout.Orders()[1:] { // back and forth
					if err := a.SetAxes(other); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.SetAxes(axes); err != nil {
					t.Fatal(err)
				}
				checkAxes(t, a, axes, n, value, width)
			}
		}
	}
	if opened < 200 {
		t.Errorf("%d arrays", opened)
	}
}

// npyOf returns an .npy file with some axes, whose values have some bytes, of which the lowest has the value. A width
// of 3 stands for float16.
func npyOf(axes string, fortran bool, width int, n map[byte]int, value func(map[byte]int) byte) []byte {
	order, descr := "False", fmt.Sprintf("<u%d", width)
	walk := []byte(axes)
	if fortran {
		order = "True"
		slices.Reverse(walk)
	}
	if width == 1 {
		descr = "|u1"
	}
	if width == 3 {
		descr, width = "<f2", 2
	}
	var shape []string
	for i := range axes {
		shape = append(shape, fmt.Sprint(n[axes[i]]))
	}
	var b []byte
	at := map[byte]int{}
	var next func(axis int)
	next = func(axis int) {
		if axis == len(walk) {
			b = append(append(b, value(at)), make([]byte, width-1)...)
			return
		}
		for i := range n[walk[axis]] {
			at[walk[axis]] = i
			next(axis + 1)
		}
	}
	next(0)
	return npy(descr, order, strings.Join(shape, ", "), b)
}

// checkAxes compares all boxes of an array, and the array read in pieces of all sizes.
func checkAxes(t *testing.T, a *Array, axes string, n map[byte]int, value func(map[byte]int) byte, width int) {
	t.Helper()
	size, channels := volume.Cube(1), 1
	for i := range axes {
		if axis := strings.IndexByte("xyz", axes[i]); axis >= 0 {
			size[axis] = n[axes[i]]
		} else {
			channels = n['c']
		}
	}
	if a.Grid.Size != size || a.Grid.Channels != channels {
		t.Fatalf("%s: got %v, %d channels, want %v, %d", axes, a.Grid.Size, a.Grid.Channels, size, channels)
	}
	for lo := range (volume.Box{Max: size}).All() {
		for hi := range (volume.Box{Min: lo, Max: size}).All() {
			box := volume.Box{Min: lo, Max: hi.Add(volume.Cube(1))}
			var want []byte
			for v := range box.All() {
				for c := range channels {
					b := value(map[byte]int{'x': v[0], 'y': v[1], 'z': v[2], 'c': c})
					if width == 3 {
						half := []byte{0, 0, b, 0}
						widen(half)
						want = append(want, half...)
						continue
					}
					want = append(append(want, b), make([]byte, width-1)...)
				}
			}
			for _, piece := range []int{usual.piece, 1, 5, 9, 16, 33} {
				if tt, ok := a.voxels.(turned); ok {
					tt.piece = piece
					a.voxels = tt
				} else if piece != usual.piece {
					continue
				}
				got := make([]byte, len(want))
				if err := a.Read(t.Context(), box, got); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%s, %v, box %v in pieces of %d bytes: got % x, want % x", axes, a.Layout, box, piece, got,
						want)
				}
			}
		}
	}
}

// TestRawAxes: the shape of a file without a header is given by the names of the axes.
func TestRawAxes(t *testing.T) {
	n := map[byte]int{'x': 2, 'y': 3, 'z': 4, 'c': 3}
	value := func(at map[byte]int) byte { return byte(1 + at['x'] + 2*at['y'] + 6*at['z'] + 24*at['c']) }
	for _, axes := range slices.Concat(letters("xyz"), []string{"cxyz", "zyxc", "czyx", "xyzc"}) {
		path := filepath.Join(t.TempDir(), "file.raw")
		file := npyOf(axes, false, 1, n, value)
		shape := RawShape{Size: volume.Vec{2, 3, 4}, Type: volume.Uint8, Channels: 1, Axes: axes}
		if len(axes) == 4 {
			shape.Channels = 3
		}
		write(t, path, file[len(file)-24*shape.Channels:])
		a, err := OpenRaw(path, shape)
		if err != nil {
			t.Fatal(err)
		}
		checkAxes(t, a, axes, n, value, 1)
		if got := a.Layout.Orders(); len(got) != 1 {
			t.Errorf("%s: got orders %q: the shape was given by names", axes, got)
		}
		a.Close()
	}
}

// TestAxesErrors: axes that the shape cannot have are refused, and so are those of a header that names its axes.
func TestAxesErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.npy")
	write(t, path, npy("|u1", "False", "2, 3, 4", make([]byte, 24)))
	a := mustOpen(t, path)
	for axes, want := range map[string]string{
		"": "expected 3 letters", "xy": "expected 3 letters, such as zyx or xyz", "zyxc": "expected 3 letters",
		"zyy": "at most once", "zya": "each of the letters x, y, z, c", "zcx": "c as the first or the last letter",
		"ZYX": "each of the letters",
	} {
		if err := a.SetAxes(axes); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%q: got %v, want %q", axes, err, want)
		}
	}
	if a.Layout.Axes != "zyx" || a.Grid.Size != (volume.Vec{4, 3, 2}) {
		t.Errorf("got %v after errors", a.Layout)
	}
	for _, axes := range []string{"zyx", "xyz"} {
		write(t, path, []byte("NRRD0005\ntype: uchar\ndimension: 3\nsizes: 1 1 1\nencoding: raw\n\n\x00"))
		if err := mustOpen(t, path).SetAxes(axes); err == nil || !strings.Contains(err.Error(), "the header says") {
			t.Errorf("got %v", err)
		}
		if a, err := OpenRaw(path, RawShape{Size: volume.Vec{1, 1, 66}, Type: volume.Uint8, Channels: 1,
			Axes: "zyc"}); err == nil {
			a.Close()
			t.Error("axes of a file without a header lack x")
		}
	}
}

// TestTurnedPlanes: a stack of pictures whose planes have one x each.
func TestTurnedPlanes(t *testing.T) {
	dir := t.TempDir()
	const X, Y, Z = 3, 4, 5
	for x := range X {
		plane := make([]byte, 0, Y*Z)
		for y := range Y {
			for z := range Z {
				plane = append(plane, byte(x+10*y+50*z))
			}
		}
		write(t, filepath.Join(dir, fmt.Sprintf("%d.png", x)),
			pngOf(&image.Gray{Pix: plane, Stride: Z, Rect: image.Rect(0, 0, Z, Y)}))
	}
	a := mustOpen(t, dir)
	if err := a.SetAxes("xyz"); err != nil {
		t.Fatal(err)
	}
	if a.Grid.Size != (volume.Vec{X, Y, Z}) || !a.WholePlanes() {
		t.Errorf("got %v, whole planes: %v", a.Grid.Size, a.WholePlanes())
	}
	for _, piece := range []int{1, 7, usual.piece} {
		v := a.voxels.(turned)
		v.piece = piece
		a.voxels = v
		for i, got := range voxelsOf(t, a) {
			if want := byte(i%X + 10*(i/X%Y) + 50*(i/X/Y)); got != want {
				t.Fatalf("voxel %d: got %d, want %d", i, got, want)
			}
		}
	}
	if err := a.SetAxes("xyzc"); err == nil {
		t.Error("channels of pictures are no axis")
	}
}
