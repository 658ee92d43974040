package preview

import (
	"math"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// magOf returns a mag of some size with blocks of 32³ voxels of uint8.
func magOf(name string, factor int, size volume.Vec) Mag {
	return Mag{Name: name, Factor: volume.Factor(volume.Cube(factor)), Bounds: volume.Box{Max: size},
		Cube: volume.Grid{Size: volume.Cube(1024), Block: volume.Cube(32), Type: volume.Uint8, Channels: 1}}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		canvas        Canvas
		size          volume.Vec
		nm            [3]float64
		width, height int
	}{
		{Canvas{Width: 100, Height: 100}, volume.Vec{50, 50, 1}, [3]float64{}, 100, 100},
		{Canvas{Width: 100, Height: 100}, volume.Vec{50, 25, 1}, [3]float64{8, 8, 30}, 100, 50},
		{Canvas{Width: 100, Height: 100}, volume.Vec{50, 25, 1}, [3]float64{8, 16, 30}, 100, 100},
		{Canvas{Width: 100, Height: 100}, volume.Vec{25, 50, 1}, [3]float64{8, 16, 30}, 25, 100},
		{Canvas{Width: 80, Height: 20, PixelAspect: 2}, volume.Vec{50, 50, 1}, [3]float64{1, 1, 1}, 40, 20},
		{Canvas{Width: 80, Height: 200, PixelAspect: 2}, volume.Vec{50, 50, 1}, [3]float64{1, 1, 1}, 80, 40},
		{Canvas{Width: 80, Height: 20}, volume.Vec{1 << 40, 1, 1}, [3]float64{1, 1, 1}, 80, 1},
		{Canvas{Width: 80, Height: 20}, volume.Vec{1, 1 << 40, 1}, [3]float64{1, 1, 1}, 1, 20},
		{Canvas{Width: 80, Height: 20, PixelAspect: math.NaN()}, volume.Vec{4, 1, 1}, [3]float64{math.NaN(), 1, 1}, 80,
			20},
		{Canvas{Width: 80, Height: 20, PixelAspect: math.Inf(1)}, volume.Vec{4, 1, 1}, [3]float64{-1, math.Inf(1), 1},
			80, 20},
	} {
		m := magOf("1", 1, test.size)
		m.Cube.Spacing = test.nm
		if w, h := test.canvas.fit(m); w != test.width || h != test.height {
			t.Errorf("%v of %v nm on %v: got %d × %d, want %d × %d", test.size, test.nm, test.canvas, w, h, test.width,
				test.height)
		}
	}
}

// TestChoose: the coarsest mag with a voxel for each pixel.
func TestChoose(t *testing.T) {
	mags := []Mag{magOf("1", 1, volume.Vec{1000, 500, 9}), magOf("2", 2, volume.Vec{500, 250, 5}),
		magOf("4", 4, volume.Vec{250, 125, 3})}
	for _, test := range []struct {
		canvas Canvas
		want   string
	}{
		{Canvas{Width: 250, Height: 250}, "4"},
		{Canvas{Width: 251, Height: 250}, "2"},
		{Canvas{Width: 251, Height: 100}, "4"},
		{Canvas{Width: 500, Height: 500}, "2"},
		{Canvas{Width: 501, Height: 500}, "1"},
		{Canvas{Width: 5000, Height: 5000}, "1"},
	} {
		if got := test.canvas.choose(mags).Name; got != test.want {
			t.Errorf("%v: got %s, want %s", test.canvas, got, test.want)
		}
	}
}

func TestPlane(t *testing.T) {
	m := magOf("4", 4, volume.Vec{9, 9, 9})
	m.Bounds.Min[2], m.Bounds.Max[2] = -3, 6
	at := func(z int) *int { return &z }
	for _, test := range []struct {
		z    *int
		want int
		err  string
	}{
		{nil, 1, ""},
		{at(0), 0, ""},
		{at(-1), -1, ""},
		{at(-12), -3, ""},
		{at(23), 5, ""},
		{at(24), 0, "z 24 is not in the layer: expected -12 to 23, in voxels of mag 1"},
		{at(-13), 0, "z -13 is not in the layer"},
	} {
		box, err := m.plane(test.z)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, want %q", err, test.err)
			}
			continue
		}
		if err != nil || box.Min[2] != test.want || box.Max[2] != test.want+1 || box.Size()[0] != 9 {
			t.Errorf("got %v, %v, want z %d", box, err, test.want)
		}
	}
}

// TestCrop: a part of a plane is in its middle, and its blocks are within the limits.
func TestCrop(t *testing.T) {
	for _, test := range []struct {
		size, block, origin volume.Vec
		want                volume.Box // of x and y
	}{
		{volume.Vec{4096, 4096, 1}, volume.Cube(32), volume.Vec{}, volume.Box{Max: volume.Vec{4096, 4096, 1}}},
		{volume.Vec{100_000, 100_000, 1}, volume.Cube(32), volume.Vec{}, volume.Box{Min: volume.Vec{47936, 47936, 0},
			Max: volume.Vec{52032, 52032, 1}}},
		{volume.Vec{100_000, 100_000, 1}, volume.Vec{4096, 4096, 1}, volume.Vec{},
			volume.Box{Min: volume.Vec{40960, 36864, 0}, Max: volume.Vec{61440, 61440, 1}}},
		{volume.Vec{1 << 30, 3, 1}, volume.Cube(32), volume.Vec{}, volume.Box{Min: volume.Vec{1<<29 - 1<<18, 0, 0},
			Max: volume.Vec{1<<29 + 1<<18, 3, 1}}},
		{volume.Vec{100_000, 100_000, 1}, volume.Cube(1), volume.Vec{}, volume.Box{Min: volume.Vec{49872, 49872, 0},
			Max: volume.Vec{50128, 50128, 1}}},
		{volume.Vec{5000, 5000, 1}, volume.Cube(1024), volume.Vec{}, volume.Box{Min: volume.Vec{2048, 2048, 0},
			Max: volume.Vec{3072, 3072, 1}}},
	} {
		m := magOf("1", 1, test.size)
		m.Cube.Block, m.Cube.Size, m.Cube.Origin = test.block, test.block, test.origin
		plane, err := m.plane(nil)
		if err != nil {
			t.Fatal(err)
		}
		got := m.crop(plane)
		if got != test.want {
			t.Errorf("%v in blocks of %v: got %v, want %v", test.size, test.block, got, test.want)
		}
		n := got.Size().CeilDiv(test.block)
		if blocks := n[0] * n[1]; blocks > 1 && (blocks > maxBlocks || blocks*m.Cube.BlockBytes() > maxBytes) {
			t.Errorf("%v: %d blocks", test.size, blocks)
		}
	}
}

// TestDrawLarge: of a plane of 100,000² voxels, only the middle is read.
func TestDrawLarge(t *testing.T) {
	m := newModel(volume.Uint8, 1)
	m.grid.Size, m.grid.Block = volume.Cube(64), volume.Cube(64)
	m.bounds = volume.Box{Max: volume.Vec{100_000, 100_000, 1 << 20}}
	m.value = nil
	p := draw(t, m, Options{Canvas: Canvas{Width: 60, Height: 40}})
	if p.Drawn.Size() != (volume.Vec{64 * 45, 64 * 45, 1}) || p.Plane.Size() != (volume.Vec{100_000, 100_000, 1}) {
		t.Errorf("drawn %v of %v", p.Drawn, p.Plane)
	}
	if n := m.read.Load(); n > maxBytes {
		t.Errorf("%d bytes are read", n)
	}
}

func TestFind(t *testing.T) {
	mags := []Mag{magOf("1", 1, volume.Cube(9)), magOf("2-2-2", 2, volume.Cube(5))}
	for _, name := range []string{"2-2-2", "2"} {
		if m, err := find(mags, name); err != nil || m.Name != "2-2-2" {
			t.Errorf("%s: got %s, %v", name, m.Name, err)
		}
	}
	for _, name := range []string{"4", "", "color"} {
		if _, err := find(mags, name); err == nil || !strings.HasSuffix(err.Error(), ", only 1, 2-2-2") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
