package web

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/render"
)

// pixels returns the pixels of a picture, row by row.
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
		voxels   []byte // one row
		want     []color.NRGBA
	}{
		{"grey", "color", "uint8", 1, []byte{100, 110, 150, 200}, []color.NRGBA{grey(0), grey(26), grey(128),
			grey(255)}},
		{"zeros are ignored", "color", "uint8", 1, []byte{0, 100, 200, 0}, []color.NRGBA{grey(0), grey(0), grey(255),
			grey(0)}},
		{"one value", "color", "uint8", 1, []byte{7, 7}, []color.NRGBA{grey(255), grey(255)}},
		{"only zeros", "color", "uint8", 1, []byte{0, 0}, []color.NRGBA{grey(0), grey(0)}},
		{"little-endian", "color", "uint16", 1, []byte{1, 0, 0, 1, 255, 1},
			[]color.NRGBA{grey(0), grey(128), grey(255)}},
		{"signed", "color", "int8", 1, []byte{0x80, 0x01, 0x7f}, []color.NRGBA{grey(0), grey(129), grey(255)}},
		{"negative", "color", "int16", 1, []byte{0xff, 0xff, 0xff, 0xff}, []color.NRGBA{grey(0), grey(0)}},
		{"floats", "color", "float32", 1, floats(-1, nan, 1, inf, 0.5), []color.NRGBA{grey(0), grey(0), grey(255),
			grey(255), grey(191)}},
		{"first of two channels", "color", "uint8", 2, []byte{1, 9, 3, 8}, []color.NRGBA{grey(0), grey(255)}},
		{"rgb", "color", "uint8", 3, []byte{1, 2, 3, 0, 0, 0}, []color.NRGBA{{1, 2, 3, 255}, {0, 0, 0, 255}}},
		{"ids", "segmentation", "uint32", 1, []byte{0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 7, 7, 0, 0, 0},
			[]color.NRGBA{clear, render.Colour(7), render.Colour(7 << 24), render.Colour(7)}},
		{"ids of 8 bytes", "segmentation", "uint64", 1, []byte{1, 0, 0, 0, 0, 0, 0, 128},
			[]color.NRGBA{render.Colour(1 | 1<<63)}},
		{"no ids", "segmentation", "float32", 1, floats(1, 2), []color.NRGBA{grey(0), grey(255)}},
	}
	for _, test := range tests {
		p := plane{volumeInfo{Category: test.category, Dtype: test.dtype, Channels: test.channels}, len(test.want), 1,
			test.voxels}
		for i, got := range pixels(p.picture()) {
			if got != test.want[i] {
				t.Errorf("%s: pixel %d is %v, want %v", test.name, i, got, test.want[i])
			}
		}
	}
}
