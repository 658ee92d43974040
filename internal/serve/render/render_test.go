package render_test

import (
	"image/color"
	"math"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/render"
	"github.com/wkwfs/wkwfs/volume"
)

func TestWindowOf(t *testing.T) {
	ramp := make([]float64, 1_000_000)
	for i := range ramp {
		ramp[i] = float64(i + 1)
	}
	for _, test := range []struct {
		name   string
		values []float64
		want   render.Window
	}{
		{"no values", nil, render.Window{Low: 0, High: 1}},
		{"only zeros", []float64{0, 0}, render.Window{Low: 0, High: 1}},
		{"zeros, NaN and infinities are ignored", []float64{0, 3, math.NaN(), math.Inf(1), 5, math.Inf(-1)},
			render.Window{Low: 3, High: 5}},
		{"one value", []float64{7, 7}, render.Window{Low: 0, High: 7}},
		{"one negative value", []float64{-7, 0}, render.Window{Low: -7, High: 0}},
		{"percentiles", ramp[:200], render.Window{Low: 3, High: 198}},
		{"every 16th value", ramp, render.Window{Low: 10001, High: 989985}},
	} {
		if got := render.WindowOf(test.values); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestGrey(t *testing.T) {
	huge := render.Window{Low: -math.MaxFloat64, High: math.MaxFloat64}
	for _, test := range []struct {
		window render.Window
		value  float64
		want   uint8
	}{
		{render.Window{Low: 100, High: 200}, 99, 0},
		{render.Window{Low: 100, High: 200}, 100, 0},
		{render.Window{Low: 100, High: 200}, 110, 26},
		{render.Window{Low: 100, High: 200}, 200, 255},
		{render.Window{Low: 100, High: 200}, 201, 255},
		{render.Window{Low: 100, High: 200}, math.NaN(), 0},
		{render.Window{Low: 100, High: 200}, math.Inf(1), 255},
		{render.Window{Low: 100, High: 200}, math.Inf(-1), 0},
		{huge, 0, 128},
		{huge, math.MaxFloat64, 255},
	} {
		if got := test.window.Grey(test.value); got != test.want {
			t.Errorf("%v in %v: got %d, want %d", test.value, test.window, got, test.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	for _, test := range []struct {
		category string
		typ      volume.Type
		channels int
		want     render.Kind
	}{
		{"color", volume.Uint8, 1, render.Grey},
		{"color", volume.Uint8, 3, render.RGB},
		{"", volume.Uint8, 3, render.RGB},
		{"color", volume.Uint16, 3, render.Grey},
		{"segmentation", volume.Uint64, 1, render.Segments},
		{"segmentation", volume.Int8, 2, render.Segments},
		{"segmentation", volume.Float32, 1, render.Grey},
	} {
		if got := render.KindOf(test.category, test.typ, test.channels); got != test.want {
			t.Errorf("%d × %v of %q: got %d, want %d", test.channels, test.typ, test.category, got, test.want)
		}
	}
}

// TestValues reads −2, or the unsigned number with the same bytes, and as an ID.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		typ   volume.Type
		bytes []byte
		want  float64
		id    uint64
	}{
		{volume.Uint8, []byte{254}, 254, 254},
		{volume.Int8, []byte{254}, -2, 254},
		{volume.Uint16, []byte{1, 2}, 0x201, 0x201},
		{volume.Int16, []byte{254, 255}, -2, 0xfffe},
		{volume.Uint32, []byte{1, 2, 3, 4}, 0x4030201, 0x4030201},
		{volume.Int32, []byte{254, 255, 255, 255}, -2, 0xfffffffe},
		{volume.Uint64, []byte{0, 0, 0, 0, 0, 0, 0, 128}, 1 << 63, 1 << 63},
		{volume.Int64, []byte{254, 255, 255, 255, 255, 255, 255, 255}, -2, math.MaxUint64 - 1},
		{volume.Float32, []byte{0, 0, 0, 192}, -2, 0xc0000000},
		{volume.Float64, []byte{0, 0, 0, 0, 0, 0, 0, 192}, -2, 0xc0 << 56},
	} {
		if got := render.Values(test.typ)(test.bytes); got != test.want {
			t.Errorf("%v: got %v, want %v", test.typ, got, test.want)
		}
		if got := render.ID(test.bytes); got != test.id {
			t.Errorf("%v: got ID %#x, want %#x", test.typ, got, test.id)
		}
	}
}

// TestColour: the colours of consecutive IDs differ from each other and from the background.
func TestColour(t *testing.T) {
	if c := render.Colour(0); c != (color.NRGBA{}) {
		t.Errorf("the background is %v", c)
	}
	for id := uint64(1); id < 1000; id++ {
		c := render.Colour(id)
		brightest := max(c.R, c.G, c.B)
		if c.A != 255 || brightest < 170 || brightest-min(c.R, c.G, c.B) < 60 {
			t.Errorf("id %d: %v is pale or dark", id, c)
		}
		if next := render.Colour(id + 1); c == next {
			t.Errorf("ids %d and %d are both %v", id, id+1, c)
		}
	}
}
