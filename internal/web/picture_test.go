package web

import (
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math"
	"testing"
)

// pixels of a picture, row by row.
func pixels(img image.Image) []color.NRGBA {
	var all []color.NRGBA
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			all = append(all, color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA))
		}
	}
	return all
}

func grey(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 0xff} }

func TestPicture(t *testing.T) {
	floats := func(values ...float32) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	clear := color.NRGBA{}
	tests := []struct {
		name     string
		category string
		dtype    string
		channels int
		voxels   []byte // of a row
		want     []color.NRGBA
	}{
		{"grey", "color", "uint8", 1, []byte{100, 110, 150, 200}, []color.NRGBA{grey(0), grey(26), grey(128), grey(255)}},
		{"zeros do not count", "color", "uint8", 1, []byte{0, 100, 200, 0}, []color.NRGBA{grey(0), grey(0), grey(255), grey(0)}},
		{"one value", "color", "uint8", 1, []byte{7, 7}, []color.NRGBA{grey(255), grey(255)}},
		{"nothing", "color", "uint8", 1, []byte{0, 0}, []color.NRGBA{grey(0), grey(0)}},
		{"little-endian", "color", "uint16", 1, []byte{1, 0, 0, 1, 255, 1}, []color.NRGBA{grey(0), grey(128), grey(255)}},
		{"signed", "color", "int8", 1, []byte{0x80, 0x01, 0x7f}, []color.NRGBA{grey(0), grey(129), grey(255)}},
		{"negative", "color", "int16", 1, []byte{0xff, 0xff, 0xff, 0xff}, []color.NRGBA{grey(0), grey(0)}},
		{"floats", "color", "float32", 1, floats(-1, nan, 1, inf, 0.5), []color.NRGBA{grey(0), grey(0), grey(255), grey(255), grey(191)}},
		{"first of two channels", "color", "uint8", 2, []byte{1, 9, 3, 8}, []color.NRGBA{grey(0), grey(255)}},
		{"rgb", "color", "uint8", 3, []byte{1, 2, 3, 0, 0, 0}, []color.NRGBA{{1, 2, 3, 255}, {0, 0, 0, 255}}},
		{"ids", "segmentation", "uint32", 1, []byte{0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 7, 7, 0, 0, 0}, []color.NRGBA{clear, colourOf(7), colourOf(7 << 24), colourOf(7)}},
		{"ids of 8 bytes", "segmentation", "uint64", 1, []byte{1, 0, 0, 0, 0, 0, 0, 128}, []color.NRGBA{colourOf(1 | 1<<63)}},
		{"no ids", "segmentation", "float32", 1, floats(1, 2), []color.NRGBA{grey(0), grey(255)}},
	}
	for _, test := range tests {
		p := plane{facts{Category: test.category, Dtype: test.dtype, Channels: test.channels}, len(test.want), 1, test.voxels}
		for i, got := range pixels(p.picture()) {
			if got != test.want[i] {
				t.Errorf("%s: pixel %d is %v, want %v", test.name, i, got, test.want[i])
			}
		}
	}
}

// TestColours holds that ids can be told apart, and from the background.
func TestColours(t *testing.T) {
	for id := uint64(1); id < 1000; id++ {
		c := colourOf(id)
		brightest := max(c.R, c.G, c.B)
		if c.A != 255 || brightest < 170 || brightest-min(c.R, c.G, c.B) < 60 {
			t.Errorf("id %d: %v is pale or dark", id, c)
		}
		if next := colourOf(id + 1); c == next {
			t.Errorf("ids %d and %d are both %v", id, id+1, c)
		}
	}
}

func TestPart(t *testing.T) {
	for _, test := range []struct {
		shape, origin [3]int
		dtype         string
		channels      int
		begin         [3]int
		width, height int
	}{
		{[3]int{210, 180, 92}, [3]int{100, 70, 34}, "uint8", 1, [3]int{100, 70, 80}, 210, 180},
		{[3]int{1, 1, 1}, [3]int{-5, 0, 0}, "uint8", 1, [3]int{-5, 0, 0}, 1, 1},
		{[3]int{1024, 512, 1}, [3]int{}, "uint8", 1, [3]int{}, 1024, 512},
		{[3]int{1024, 513, 1}, [3]int{}, "uint8", 1, [3]int{1, 0, 0}, 1022, 513},
		{[3]int{1 << 40, 1 << 40, 7}, [3]int{}, "uint8", 1, [3]int{1<<39 - 362, 1<<39 - 362, 3}, 724, 724},
		{[3]int{1 << 40, 4, 7}, [3]int{}, "uint8", 1, [3]int{1<<39 - 1<<16, 0, 3}, 1 << 17, 4},
		{[3]int{4, 1 << 40, 7}, [3]int{}, "uint8", 1, [3]int{0, 1<<39 - 1<<16, 3}, 4, 1 << 17},
		{[3]int{1 << 20, 1 << 20, 7}, [3]int{}, "float64", 128, [3]int{1<<19 - 45, 1<<19 - 46, 3}, 90, 91},
	} {
		v := facts{Shape: test.shape, Origin: test.origin, Dtype: test.dtype, Channels: test.channels}
		begin, width, height := v.part()
		if begin != test.begin || width != test.width || height != test.height {
			t.Errorf("%v: %d × %d at %v, want %d × %d at %v", test.shape, width, height, begin, test.width, test.height, test.begin)
		}
		if width*height*v.voxelBytes() > maxPictureBytes || width*height > maxPixels {
			t.Errorf("%v: %d × %d voxels are too many", test.shape, width, height)
		}
	}
}

func TestFactsCheck(t *testing.T) {
	good := facts{Dtype: "uint8", Channels: 1, Shape: [3]int{1, 1, 1}}
	for _, test := range []struct {
		name  string
		spoil func(*facts)
		want  string
	}{
		{"good", func(*facts) {}, ""},
		{"dtype", func(v *facts) { v.Dtype = "uint7" }, `volume.json: dtype "uint7" is not known`},
		{"no channel", func(v *facts) { v.Channels = 0 }, "volume.json: 0 channels of uint8: expected 1 to 1024 bytes a voxel"},
		{"many channels", func(v *facts) { v.Channels = 1 << 62 }, "volume.json: 4611686018427387904 channels of uint8: expected 1 to 1024 bytes a voxel"},
		{"empty", func(v *facts) { v.Shape[1] = 0 }, "volume.json: shape [1 0 1] is empty"},
		{"negative", func(v *facts) { v.Shape[2] = -1 }, "volume.json: shape [1 1 -1] is empty"},
	} {
		v := good
		test.spoil(&v)
		got := ""
		if err := v.check("volume.json"); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: error %q, want %q", test.name, got, test.want)
		}
	}
}

func TestGallery(t *testing.T) {
	g := newGallery()
	painted := 0
	paint := func(size int) func() ([]byte, error) {
		return func() ([]byte, error) { painted++; return make([]byte, size), nil }
	}
	for _, test := range []struct {
		key  string
		size int
		want int // pictures painted until then
	}{{"a", 20 << 20, 1}, {"a", 20 << 20, 1}, {"b", 10 << 20, 2}, {"a", 20 << 20, 2}, {"c", 5 << 20, 3}, {"b", 10 << 20, 3}, {"a", 20 << 20, 4}} {
		if _, err := g.get(t.Context(), test.key, paint(test.size)); err != nil || painted != test.want {
			t.Errorf("%s: %d pictures painted, error %v, want %d", test.key, painted, err, test.want)
		}
		if g.bytes > maxGallery {
			t.Errorf("%d bytes are kept", g.bytes)
		}
	}
	broken := errors.New("broken")
	for range 2 { // an error is not kept
		if _, err := g.get(t.Context(), "d", func() ([]byte, error) { painted++; return nil, broken }); err != broken {
			t.Errorf("error %v", err)
		}
	}
	if painted != 6 {
		t.Errorf("%d pictures painted, want 6", painted)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	g.easels <- struct{}{}
	g.easels <- struct{}{}
	if _, err := g.get(gone, "e", paint(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("who has left waits for a picture: %v", err)
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 10240: "10 KiB", 1<<20 - 1: "1.0 MiB", 1 << 40: "1.0 TiB", math.MaxInt64: "8.0 EiB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
