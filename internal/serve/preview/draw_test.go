package preview

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/volume"
)

// draw draws a model on a canvas of square pixels.
func draw(t *testing.T, m model, o Options) *Picture {
	t.Helper()
	mag, err := OfMag("1", m)
	if err != nil {
		t.Fatal(err)
	}
	o.Jobs = 3
	p, err := Draw(t.Context(), []Mag{mag}, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expected draws the same voxel by voxel: pixel, to cell, to the voxels of the cell.
func expected(m model, p *Picture) *image.NRGBA {
	box, size := p.Drawn, p.Image.Rect.Size()
	n := p.Drawn.Size()
	width, height := min(size.X, n[0]), min(size.Y, n[1])
	img := image.NewNRGBA(p.Image.Rect)
	for y := range size.Y {
		for x := range size.X {
			var sums [3]float64
			var count float64
			var all []volume.Vec
			damaged := false
			for v := range box.All() {
				if (v[0]-box.Min[0])*width/n[0] != x*width/size.X || (v[1]-box.Min[1])*height/n[1] != y*height/size.Y {
					continue
				}
				all = append(all, v)
				damaged = damaged || m.isDamaged(v)
				if value := m.voxel(v, 0); !math.IsNaN(value) {
					count++
					for channel := range min(m.grid.Channels, 3) {
						sums[channel] += m.voxel(v, channel)
					}
				}
			}
			first, last := all[0], all[len(all)-1]
			middle := volume.Vec{first[0] + (last[0]+1-first[0])/2, first[1] + (last[1]+1-first[1])/2, first[2]}
			var c color.NRGBA
			switch {
			case damaged:
				c = hatch(x, y)
			case m.category == "segmentation":
				c = render.Colour(uint64(m.voxel(middle, 0)))
			case p.Window == nil:
				c = color.NRGBA{uint8(sums[0]/count + 0.5), uint8(sums[1]/count + 0.5), uint8(sums[2]/count + 0.5), 255}
			default:
				grey := p.Window.Grey(sums[0] / count)
				c = color.NRGBA{grey, grey, grey, 255}
			}
			c.A = 255
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func compare(t *testing.T, got, want *image.NRGBA) {
	t.Helper()
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			if g, w := got.NRGBAAt(x, y), want.NRGBAAt(x, y); g != w {
				t.Errorf("pixel %d,%d is %v, want %v", x, y, g, w)
				return
			}
		}
	}
}

// TestDraw compares pictures with a model, for every type, with fewer and with more pixels than voxels.
func TestDraw(t *testing.T) {
	for _, typ := range volume.Types() {
		for _, category := range []string{"color", "segmentation"} {
			if typ.IsFloat() && category == "segmentation" {
				continue
			}
			for _, channels := range []int{1, 2, 3} {
				m := newModel(typ, channels)
				m.category = category
				m.absent = map[volume.Vec]bool{{1, 1, 1}: true}
				m.never = map[volume.Vec]bool{{1, 2, 2}: true}
				for _, canvas := range []Canvas{{Width: 1, Height: 1}, {Width: 7, Height: 100}, {Width: 37, Height: 22},
					{Width: 90, Height: 45}} {
					p := draw(t, m, Options{Canvas: canvas})
					compare(t, p.Image, expected(m, p))
					if p.Damaged != 0 || p.Plane != p.Drawn || p.Plane.Min[2] != 9 || p.Plane.Max[2] != 10 {
						t.Errorf("%v %s: %d damaged, plane %v, drawn %v", typ, category, p.Damaged, p.Plane, p.Drawn)
					}
				}
				if t.Failed() {
					t.Fatalf("%d × %v, %s", channels, typ, category)
				}
			}
		}
	}
}

// TestDrawValues: values that are no numbers, large, or below 0.
func TestDrawValues(t *testing.T) {
	for _, test := range []struct {
		name  string
		typ   volume.Type
		value func(v volume.Vec, channel int) float64
	}{
		{"NaN", volume.Float32, func(v volume.Vec, _ int) float64 {
			if v[0]%3 == 0 {
				return math.NaN()
			}
			return valueAt(v, 0)
		}},
		{"only NaN", volume.Float64, func(volume.Vec, int) float64 { return math.NaN() }},
		{"infinite", volume.Float64, func(v volume.Vec, _ int) float64 { return math.Inf(v[0]%2*2 - 1) }},
		{"negative", volume.Int16, func(v volume.Vec, _ int) float64 { return -100 * valueAt(v, 0) }},
		{"unsigned", volume.Uint64, func(v volume.Vec, _ int) float64 { return valueAt(v, 0) * (1 << 57) }},
	} {
		m := newModel(test.typ, 1)
		m.value = test.value
		for _, width := range []int{5, 37, 60} {
			p := draw(t, m, Options{Canvas: Canvas{Width: width, Height: 1000}})
			compare(t, p.Image, expected(m, p))
			if t.Failed() {
				t.Fatalf("%s, %d pixels", test.name, width)
			}
		}
	}
}

// TestDrawZero: only a picture of zeros is one.
func TestDrawZero(t *testing.T) {
	zero := func(volume.Vec, int) float64 { return 0 }
	nan := func(volume.Vec, int) float64 { return math.NaN() }
	damaged := map[volume.Vec]bool{{1, 2, 2}: true}
	for _, test := range []struct {
		name, category string
		typ            volume.Type
		value          func(volume.Vec, int) float64
		damaged        map[volume.Vec]bool
		want           bool
	}{
		{"zeros", "color", volume.Uint8, zero, nil, true},
		{"background", "segmentation", volume.Uint8, zero, nil, true},
		{"values", "color", volume.Uint8, valueAt, nil, false},
		{"segments", "segmentation", volume.Uint8, valueAt, nil, false},
		{"NaN", "color", volume.Float32, nan, nil, false},
		{"damage", "color", volume.Uint8, zero, damaged, false},
	} {
		m := newModel(test.typ, 1)
		m.category, m.value, m.damaged = test.category, test.value, test.damaged
		if p := draw(t, m, Options{Canvas: Canvas{Width: 20, Height: 20}}); p.Zero != test.want {
			t.Errorf("%s: got %v", test.name, p.Zero)
		}
	}
}

// TestDrawDamage: pixels of what cannot be read have stripes, all others are as without damage.
func TestDrawDamage(t *testing.T) {
	for _, category := range []string{"color", "segmentation"} {
		m := newModel(volume.Uint8, 1)
		m.category = category
		// the last one is not in the plane
		m.damaged = map[volume.Vec]bool{{1, 2, 2}: true, {1, 3, 2}: true, {0, 1, 0}: true}
		m.closed = map[volume.Vec]bool{{2, 2, 1}: true}
		for _, width := range []int{6, 37, 80} {
			p := draw(t, m, Options{Canvas: Canvas{Width: width, Height: 1000}})
			compare(t, p.Image, expected(m, p))
			// The plane has 5 × 6 blocks. Cube 2,2,1 has two of them.
			if p.Blocks != 30 || p.Damaged != 4 || len(p.Faults) != 2 {
				t.Errorf("%d of %d blocks, %d faults, want 4 of 30 and 2: %v", p.Damaged, p.Blocks, len(p.Faults),
					p.Faults)
			}
		}
	}
}

// TestDrawCube draws a cube file whose place in a dataset is known, but which is the source.
func TestDrawCube(t *testing.T) {
	m := newModel(volume.Uint8, 1)
	cube := &volume.SingleCube{Name: "x1", Grid: m.grid,
		Open: func() (volume.CubeFile, error) { return m.OpenCube(volume.Vec{1, 0, 0}) }}
	mag, err := OfCube(cube)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Draw(t.Context(), []Mag{mag}, Options{Canvas: Canvas{Width: 16, Height: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for x := range 16 {
		if got, want := p.Image.NRGBAAt(x, 2).R, p.Window.Grey(valueAt(volume.Vec{16 + x, 2, 4}, 0)); got != want {
			t.Errorf("x %d: got %d, want %d", x, got, want)
		}
	}
}

func TestDrawCanceled(t *testing.T) {
	mag, err := OfMag("1", newModel(volume.Uint8, 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Draw(ctx, []Mag{mag}, Options{Canvas: Canvas{Width: 9, Height: 9}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
