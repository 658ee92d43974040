package arrayfile

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// boxes returns boxes of an array of the given size: rows, parts of rows, planes, and all.
func boxes(n volume.Vec) []volume.Box {
	return []volume.Box{
		{Max: n},
		{Max: volume.Vec{n[0], n[1], 1}},
		{Min: volume.Vec{0, 0, 1}, Max: volume.Vec{n[0], n[1], n[2] - 1}},
		{Min: volume.Vec{0, 2, 3}, Max: volume.Vec{n[0], 7, 5}},
		{Min: volume.Vec{1, 0, 0}, Max: volume.Vec{n[0], n[1], n[2]}},
		{Min: volume.Vec{4, 5, 6}, Max: volume.Vec{9, 6, 8}},
		{Min: n.Sub(volume.Cube(1)), Max: n},
	}
}

// boxOf returns the voxels of a box of an array, one after the other.
func boxOf(voxels []byte, g volume.Grid, box volume.Box) (b []byte) {
	for z := box.Min[2]; z < box.Max[2]; z++ {
		for y := box.Min[1]; y < box.Max[1]; y++ {
			for x := box.Min[0]; x < box.Max[0]; x++ {
				at := volume.Vec{x, y, z}.Index(g.Size) * g.VoxelBytes()
				b = append(b, voxels[at:at+g.VoxelBytes()]...)
			}
		}
	}
	return b
}

// TestReadBoxes reads boxes of every shape in both byte orders.
func TestReadBoxes(t *testing.T) {
	for _, typ := range volume.Types() {
		g := array(typ, 3).Grid
		want := voxeltest.Pattern(g)
		for _, big := range []bool{false, true} {
			stored := want
			if big {
				stored = swapped(want, typ.Size())
			}
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, stored)
			a, err := OpenRaw(path, RawShape{Size: g.Size, Type: typ, Channels: 3, BigEndian: big})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			for _, box := range boxes(g.Size) {
				want := boxOf(want, g, box)
				got := make([]byte, len(want))
				if err := a.Read(t.Context(), box, got); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%v, big-endian %v, box %v: voxels differ, error %v", typ, big, box, err)
				}
			}
		}
	}
}

// TestReadErrors: boxes outside of the array and memory of another size are errors.
func TestReadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, make([]byte, 24))
	a, err := OpenRaw(path, RawShape{Size: volume.Vec{2, 3, 4}, Type: volume.Uint8, Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for want, box := range map[string]volume.Box{
		"expected memory of 24 bytes": {Max: volume.Vec{2, 3, 4}},
		"expected a part of 2,3,4":    {Max: volume.Vec{3, 3, 4}},
		"box 1-1_1-2_1-2: expected":   {Min: volume.Cube(1), Max: volume.Vec{1, 2, 2}},
	} {
		if err := a.Read(t.Context(), box, make([]byte, 23)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", box, err, want)
		}
	}
}

// TestSwap: values of every size are swapped, for every number of values.
func TestSwap(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		for n := range 20 {
			b := counted(n * size)
			want := swapped(b, size)
			if swap(b, size); !bytes.Equal(b, want) {
				t.Errorf("%d values of %d bytes: got % x, want % x", n, size, b, want)
			}
		}
	}
}

// TestRowsTogether reads all boxes of small arrays, with rows that are read together, in groups of all sizes, and
// alone.
func TestRowsTogether(t *testing.T) {
	together := 0
	for size := range (volume.Box{Min: volume.Cube(1), Max: volume.Cube(5)}).All() {
		voxels := counted(2 * size[0] * size[1] * size[2])
		for gap := range 7 {
			for _, span := range []int{1, 5, 8, 20, 99} {
				f := flat{ReaderAt: bytes.NewReader(append([]byte("head"), voxels...)), name: "f", offset: 4,
					size: size, value: 1, channels: 2, limits: limits{gap: gap, span: span}}
				for lo := range (volume.Box{Max: size}).All() {
					for hi := range (volume.Box{Min: lo, Max: size}).All() {
						box := volume.Box{Min: lo, Max: hi.Add(volume.Cube(1))}
						if f.together(box) > 1 {
							together++
						}
						var want []byte
						for v := range box.All() {
							at := 2 * v.Index(size)
							want = append(want, voxels[at:at+2]...)
						}
						got := make([]byte, len(want))
						if err := f.read(t.Context(), box, got); err != nil || !bytes.Equal(got, want) {
							t.Fatalf("%v of %v, gap %d, span %d: got % x, want % x: %v", box, size, gap, span, got,
								want, err)
						}
					}
				}
			}
		}
	}
	if together < 1000 {
		t.Errorf("rows were read together %d times", together)
	}
}
