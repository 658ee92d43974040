package hdfsource

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// TestAxes: names decide; without names, three axes of more than one value are z, y, x, and more are refused.
func TestAxes(t *testing.T) {
	for _, c := range []struct {
		shape   []uint64
		names   string
		want    string // indexes of x, y, z, channels and times; "": refused
		noVoxel bool   // refused as no volume
	}{
		{[]uint64{5, 6, 7}, "", "2 1 0 -1 -1", false},
		{[]uint64{6, 7}, "", "1 0 -1 -1 -1", false},
		{[]uint64{7}, "", "", true},
		{[]uint64{100, 3}, "", "", true},
		{[]uint64{0, 6, 7}, "", "", true},
		{[]uint64{1, 5, 6, 7}, "", "3 2 1 -1 -1", false},
		{[]uint64{5, 6, 7, 1}, "", "2 1 0 -1 -1", false},
		{[]uint64{1, 1, 5, 6, 7}, "", "4 3 2 -1 -1", false},
		{[]uint64{1, 1, 1, 7}, "", "3 2 1 -1 -1", false},
		{[]uint64{2, 5, 6, 7}, "", "", false},
		{[]uint64{2, 5, 6, 7}, "czyx", "3 2 1 0 -1", false},
		{[]uint64{5, 6, 7, 3}, "zyxc", "2 1 0 3 -1", false},
		{[]uint64{7, 6, 5}, "xyz", "0 1 2 -1 -1", false},
		{[]uint64{1, 5, 6, 7, 2}, "tzyxc", "3 2 1 4 -1", false},
		{[]uint64{3, 5, 6, 7, 1}, "tzyxc", "3 2 1 -1 0", false},
		{[]uint64{5, 6, 7, 3}, "zyxt", "2 1 0 -1 3", false},
		{[]uint64{2, 5, 6, 7}, "azyx", "", false},
		{[]uint64{5, 6, 7}, "zya", "", false},
	} {
		var names []string
		for _, letter := range c.names {
			names = append(names, string(letter))
		}
		a, err := axesOf(c.shape, names)
		got := fmt.Sprint(a.space[0], a.space[1], a.space[2], a.channel, a.time)
		if err != nil {
			got = ""
		}
		if got != c.want || c.noVoxel != (err != nil && isNoVolume(err)) {
			t.Errorf("%v %q: got %q, %v, want %q", c.shape, c.names, got, err, c.want)
		}
	}
}

// TestValues converts values of every kind of number, in both byte orders.
func TestValues(t *testing.T) {
	integer := func(size int, signed, big bool) hdf5.Datatype {
		return hdf5.Datatype{Class: hdf5.ClassInteger, Size: size, Signed: signed, BigEndian: big, Precision: 8 * size}
	}
	odd := integer(2, true, false)
	odd.Precision, odd.Offset = 5, 3
	bigHalf := hdf5.Datatype{Class: hdf5.ClassFloat, Size: 2, IEEE: true, BigEndian: true}
	boolean := integer(1, true, false)
	for _, c := range []struct {
		t      hdf5.Datatype
		kind   volume.Type
		stored []byte
		want   []byte
	}{
		{integer(1, false, false), volume.Uint8, []byte{7, 9}, []byte{7, 9}},
		{integer(2, true, true), volume.Int16, []byte{1, 2, 3, 4}, []byte{2, 1, 4, 3}},
		{integer(8, false, true), volume.Uint64, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{8, 7, 6, 5, 4, 3, 2, 1}},
		{odd, volume.Int16, []byte{0b1_0111_111, 0xFF, 0b0_1000_000, 0}, []byte{0xF7, 0xFF, 8, 0}},
		{bigHalf, volume.Float32, []byte{0x3C, 0}, []byte{0, 0, 0x80, 0x3F}},
		{hdf5.Datatype{Class: hdf5.ClassEnum, Size: 1, Base: &boolean}, volume.Int8, []byte{0, 1}, []byte{0, 1}},
	} {
		v, err := valuesOf(c.t)
		if err != nil || v.kind != c.kind {
			t.Errorf("%+v: got %v, %v, want %v", c.t, v.kind, err, c.kind)
			continue
		}
		got := make([]byte, len(c.want))
		v.convert(got, v.kind.Size(), c.stored)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: % x became % x, want % x", c.t, c.stored, got, c.want)
		}
		apart := make([]byte, 2*len(c.want)) // every second value belongs to another channel
		v.convert(apart, 2*v.kind.Size(), c.stored)
		if size := v.kind.Size(); !slices.Equal(apart[:size], c.want[:size]) || slices.Max(apart[size:2*size]) != 0 {
			t.Errorf("%+v: apart % x, want the values of % x", c.t, apart, c.want)
		}
	}
	for _, bad := range []hdf5.Datatype{
		{Class: hdf5.ClassString, Size: 4}, {Class: hdf5.ClassCompound, Size: 8},
		{Class: hdf5.ClassInteger, Size: 3, Precision: 24},
		{Class: hdf5.ClassFloat, Size: 4}, {Class: hdf5.ClassComplex, Size: 8},
	} {
		if v, err := valuesOf(bad); err == nil {
			t.Errorf("%+v: got %v, want an error", bad, v.kind)
		}
	}
}

// TestHalf compares all floats of 16 bits with their definition.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		exponent, fraction := h>>10&31, float64(h&1023)
		want := math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		want = math.Copysign(want, float64(1-h>>15*2))
		got := float64(halfToFloat(uint16(h)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != math.Signbit(want) &&
			!math.IsNaN(want) {
			t.Fatalf("%#04x: got %v, want %v", h, got, want)
		}
	}
}

// TestFactors: spacing decides; else sizes do, which are rounded up or down in pyramids.
func TestFactors(t *testing.T) {
	for _, c := range []struct {
		fine, coarse volume.Vec
		spacing      [2]float64
		want         volume.Factor
	}{
		{volume.Vec{30, 28, 15}, volume.Vec{15, 14, 15}, [2]float64{}, volume.Factor{2, 2, 1}},
		{volume.Vec{33, 26, 15}, volume.Vec{17, 13, 15}, [2]float64{}, volume.Factor{2, 2, 1}},
		{volume.Vec{33, 26, 15}, volume.Vec{16, 13, 7}, [2]float64{4, 8}, volume.Factor{2, 2, 2}},
		{volume.Vec{5, 5, 5}, volume.Vec{9, 9, 9}, [2]float64{}, volume.Factor{1, 1, 1}},
	} {
		fine, coarse := volume.Grid{Size: c.fine}, volume.Grid{Size: c.coarse}
		for axis := range 3 {
			fine.Spacing[axis], coarse.Spacing[axis] = c.spacing[0], c.spacing[1]
		}
		if got := factorOf(fine, coarse); got != c.want {
			t.Errorf("%v and %v: got %v, want %v", c.fine, c.coarse, got, c.want)
		}
	}
}

// TestOrigin: only whole voxels are a position.
func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		p    position
		want volume.Vec
	}{
		{position{spacing: [3]float64{4, 4, 40}, offset: [3]float64{16, 8, -120}}, volume.Vec{4, 2, -3}},
		{position{spacing: [3]float64{4, 4, 40}, offset: [3]float64{16, 9, 120}}, volume.Vec{}},
		{position{spacing: [3]float64{4, 0, 40}, offset: [3]float64{16, 8, 120}}, volume.Vec{}},
		{position{spacing: [3]float64{1e-9, 4, 40}, offset: [3]float64{1e12, 8, 120}}, volume.Vec{}},
	} {
		if got := c.p.origin(); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.p, got, c.want)
		}
	}
}
