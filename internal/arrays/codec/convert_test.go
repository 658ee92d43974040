package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func number(t volume.Type) Number { return Number{Type: t} }

// pack returns numbers, little-endian.
func pack(t testing.TB, values any) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestConvert decodes values of all kinds. nil is an error.
func TestConvert(t *testing.T) {
	u8, i16, i64, u64 := number(volume.Uint8), number(volume.Int16), number(volume.Int64), number(volume.Uint64)
	f32, f64, half := number(volume.Float32), number(volume.Float64), Number{Type: volume.Float32, Half: true}
	nan := math.NaN()
	for name, c := range map[string]struct {
		codec        Convert
		stored, want any
	}{
		"delta wraps": {Convert{Name: "delta", From: u8, To: u8}, []uint8{200, 100, 255},
			[]uint8{200, 44, 43}},
		"delta of narrow values": {Convert{Name: "delta", From: number(volume.Int8), To: i16}, []int8{100, 100, -3},
			[]int16{100, 200, 197}},
		"delta of floats": {Convert{Name: "delta", From: f32, To: f32}, []float32{1 << 24, 1, 1},
			[]float32{1 << 24, 1 << 24, 1 << 24}},
		"delta of large values": {Convert{Name: "delta", From: u64, To: u64}, []uint64{math.MaxUint64, 3},
			[]uint64{math.MaxUint64, 2}},
		"fixed scale, truncated": {Convert{Name: "fixedscaleoffset", From: u8, To: i16, Scale: Value{Float: 2},
			Offset: Value{Float: -1}}, []uint8{0, 5, 3}, []int16{-1, 1, 0}},
		"fixed scale, outside": {Convert{Name: "fixedscaleoffset", From: i16, To: u8, Scale: Value{Float: 1}},
			[]int16{-1}, nil},
		"astype wraps": {Convert{Name: "astype", From: i64, To: u8}, []int64{-1, 257, 1 << 40},
			[]uint8{255, 1, 0}},
		"astype truncates": {Convert{Name: "astype", From: f64, To: i16}, []float64{-1.9, 1.9},
			[]int16{-1, 1}},
		"astype of NaN":  {Convert{Name: "astype", From: f64, To: i16}, []float64{nan}, nil},
		"astype outside": {Convert{Name: "astype", From: f64, To: i16}, []float64{40000}, nil},
		"large integers as float32": {Convert{Name: "astype", From: u64, To: f32}, []uint64{1<<63 + 1<<39 + 1},
			[]float32{1<<63 + 1<<40}},
		"scale": {Convert{Name: "scale_offset", From: f64, To: f64, Scale: Value{Float: 4},
			Offset: Value{Float: 0.5}}, []float64{2}, []float64{1}},
		"scale of integers": {Convert{Name: "scale_offset", From: i16, To: i16, Scale: Value{Whole: -2},
			Offset: Value{Whole: 3}}, []int16{4, -6}, []int16{1, 6}},
		"scale that is not exact": {Convert{Name: "scale_offset", From: i16, To: i16, Scale: Value{Whole: 2}},
			[]int16{3}, nil},
		"offset that overflows": {Convert{Name: "scale_offset", From: i64, To: i64, Scale: Value{Whole: 1},
			Offset: Value{Whole: 1}}, []int64{math.MaxInt64}, nil},
		"smallest / -1": {Convert{Name: "scale_offset", From: i64, To: i64, Scale: Value{Whole: -1}},
			[]int64{math.MinInt64}, nil},
		"unsigned overflow": {Convert{Name: "scale_offset", From: u64, To: u64, Scale: Value{Whole: 1},
			Offset: Value{Whole: 1}}, []uint64{math.MaxUint64}, nil},
		"cast outside": {Convert{Name: "cast_value", From: i64, To: u8}, []int64{256}, nil},
		"cast clamps": {Convert{Name: "cast_value", From: i64, To: u8, Outside: Clamp},
			[]int64{256, -1, 7}, []uint8{255, 0, 7}},
		"cast wraps": {Convert{Name: "cast_value", From: i64, To: u8, Outside: Wrap}, []int64{257, -1},
			[]uint8{1, 255}},
		"cast of large values": {Convert{Name: "cast_value", From: u64, To: i64, Outside: Clamp},
			[]uint64{math.MaxUint64}, []int64{math.MaxInt64}},
		"floats clamp": {Convert{Name: "cast_value", From: f64, To: u64, Outside: Clamp},
			[]float64{1e30, -1, math.Inf(1)}, []uint64{math.MaxUint64, 0, math.MaxUint64}},
		"floats wrap": {Convert{Name: "cast_value", From: f64, To: number(volume.Int8), Outside: Wrap},
			[]float64{129, -129, 300}, []int8{-127, 127, 44}},
		"even": {Convert{Name: "cast_value", From: f64, To: u8, Rounding: NearestEven},
			[]float64{0.5, 1.5}, []uint8{0, 2}},
		"away": {Convert{Name: "cast_value", From: f64, To: number(volume.Int8),
			Rounding: NearestAway}, []float64{0.5, -1.5}, []int8{1, -2}},
		"up": {Convert{Name: "cast_value", From: f64, To: u8, Rounding: TowardsPositive},
			[]float64{0.1}, []uint8{1}},
		"down": {Convert{Name: "cast_value", From: f64, To: number(volume.Int8),
			Rounding: TowardsNegative}, []float64{-0.1}, []int8{-1}},
		"mapped": {Convert{Name: "cast_value", From: u8, To: f32,
			Map: &[]Mapped{{Value{Whole: 255}, Value{Float: -1}}}}, []uint8{255, 254}, []float32{-1, 254}},
		"mapped NaN": {Convert{Name: "cast_value", From: f64, To: u8,
			Map: &[]Mapped{{Value{Float: nan}, Value{Whole: 9}}}}, []float64{nan, 1}, []uint8{9, 1}},
		"halves": {Convert{Name: "float16", From: half, To: f32},
			[]uint16{0x3c00, 0xc000, 0x0001, 0x8000, 0x7c00}, []float32{1, -2, 0x1p-24, float32(math.Copysign(0, -1)),
				float32(math.Inf(1))}},
		"big-endian": {Convert{Name: "delta", From: Number{Type: volume.Int16, Big: true}, To: i16},
			[]uint16{0x0100, 0x0200}, []int16{1, 3}},
		"half a value": {Convert{Name: "astype", From: i16, To: u8}, []uint8{1}, nil},
	} {
		src := pack(t, c.stored)
		if c.want == nil {
			if _, err := c.codec.Decode(nil, src, 100); err == nil {
				t.Errorf("%s: got no error", name)
			}
			continue
		}
		want := pack(t, c.want)
		got, err := c.codec.Decode(nil, src, len(want))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, %v, want %x", name, got, err, want)
		}
		if _, err := c.codec.Decode(nil, src, len(want)-1); err == nil {
			t.Errorf("%s: got no error with too little room", name)
		}
	}
}

// TestHalves: each float of 16 bits is what it was after it became one of 32 bits.
func TestHalves(t *testing.T) {
	for h := range 1 << 16 {
		f := halfValue(uint16(h))
		if got := HalfBits(f); got != uint16(h) && !math.IsNaN(f) {
			t.Fatalf("%#x became %v, and then %#x", h, f, got)
		}
	}
	for f, want := range map[float64]uint16{65519: 0x7bff, 65520: 0x7c00, 2049: 0x6800, 2051: 0x6802, 0x1p-25: 0,
		0x1.8p-25: 1} {
		if got := HalfBits(f); got != want {
			t.Errorf("%v: got %#x, want %#x", f, got, want)
		}
	}
}

// TestArrangements: codecs that arrange bytes and bits.
func TestArrangements(t *testing.T) {
	shape, order := []int{2, 3}, []int{1, 0}
	for name, c := range map[string]struct {
		codec        Codec
		stored, want []byte
	}{
		"transpose": {Permute{Shape: &shape, Order: &order, Size: 1}, []byte{0, 3, 1, 4, 2, 5},
			[]byte{0, 1, 2, 3, 4, 5}},
		"transpose, short": {Permute{Shape: &shape, Order: &order, Size: 1}, []byte{0, 3}, nil},
		"shuffle":          {Shuffle{Size: 2}, []byte{1, 3, 2, 4}, []byte{1, 2, 3, 4}},
		"shuffle, half":    {Shuffle{Size: 2}, []byte{1}, nil},
		"low bits first":   {PackBits{Padding: NoPadding}, []byte{0x05, 0x02}, []byte{1, 0, 1, 0, 0, 0, 0, 0, 0, 1}},
		"high bits first": {PackBits{HighFirst: true, Padding: FirstByte}, []byte{6, 0xa0, 0x40},
			[]byte{1, 0, 1, 0, 0, 0, 0, 0, 0, 1}},
		"padding last":      {PackBits{Padding: LastByte}, []byte{0x05, 0x02, 6}, []byte{1, 0, 1, 0, 0, 0, 0, 0, 0, 1}},
		"too much padding":  {PackBits{Padding: FirstByte}, []byte{8, 1}, nil},
		"padding alone":     {PackBits{Padding: LastByte}, []byte{1}, nil},
		"no bits at all":    {PackBits{Padding: FirstByte}, nil, nil},
		"bits for too many": {PackBits{Padding: NoPadding}, make([]byte, 30), nil},
	} {
		limit := 10
		if c.want != nil {
			limit = len(c.want)
		}
		got, err := c.codec.Decode(nil, c.stored, limit)
		if c.want == nil && err == nil || c.want != nil && (err != nil || !bytes.Equal(got, c.want)) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
		if c.want != nil && len(c.stored) > c.codec.Bound(limit) {
			t.Errorf("%s: %d bytes are more than the bound %d", name, len(c.stored), c.codec.Bound(limit))
		}
	}
}

// FuzzConvert: any bytes and types. A result has a value for each stored one.
func FuzzConvert(f *testing.F) {
	names := []string{"delta", "fixedscaleoffset", "astype", "scale_offset", "cast_value", "float16"}
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(0), uint8(3), uint8(4), 1.5)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint8(4), uint8(9), uint8(3), -1.0)
	f.Fuzz(func(t *testing.T, src []byte, name, from, to uint8, value float64) {
		types := volume.Types()
		c := Convert{Name: names[int(name)%len(names)], From: number(types[int(from)%len(types)]),
			To: number(types[int(to)%len(types)])}
		c.Scale, c.Offset = Value{int64(from), value}, Value{int64(value), value}
		c.Outside = []OutOfRange{Fail, Clamp, Wrap}[int(name)/8%3]
		if c.Name == "scale_offset" {
			c.To = c.From
		}
		n := len(src) / c.From.Size() * c.To.Size()
		dst := make([]byte, n+1)
		b, err := c.Decode(dst, src, n)
		if err == nil && len(b) != n || dst[n] != 0 {
			t.Fatalf("%v: got %d bytes, %v", c, len(b), err)
		}
	})
}
