package downsample

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// ratios are all that New accepts.
func ratios() (all []volume.Vec) {
	for r := range (volume.Box{Min: volume.Cube(1), Max: volume.Cube(3)}).All() {
		if r != volume.Cube(1) {
			all = append(all, r)
		}
	}
	return all
}

// extremes are the bits of values at which an arithmetic could fail, for types of 64 bits. Narrower types use the
// lowest or the highest bits.
var extremes = []uint64{
	0, 1, 2, math.MaxUint64, math.MaxUint64 - 1, 1 << 63, 1<<63 - 1, 1<<63 + 1, 0x8080_8080_8080_8080,
	0x7f7f_7f7f_7f7f_7f7f,
	math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), math.Float64bits(math.NaN()),
	math.Float64bits(math.MaxFloat64),
	math.Float64bits(-math.MaxFloat64), math.Float64bits(1.5), math.Float64bits(-0.1), 0xfff8_0000_0000_0001,
	uint64(math.Float32bits(float32(math.Inf(1)))) << 32, uint64(math.Float32bits(float32(math.Inf(-1)))) << 32,
	0x7fc0_0000 << 32, 0xffc0_0001 << 32, uint64(math.Float32bits(math.MaxFloat32)) << 32, 0xbf80_0000 << 32,
}

// fills are the kinds of content. Kinds with few different values have ties, and cells with one value.
var fills = map[string]func(rng *rand.Rand, t volume.Type, i int) uint64{
	"random":   func(rng *rand.Rand, _ volume.Type, _ int) uint64 { return rng.Uint64() },
	"position": func(_ *rand.Rand, _ volume.Type, i int) uint64 { return uint64(i) * 0x0101_0101_0101_0101 },
	"ids":      func(rng *rand.Rand, _ volume.Type, _ int) uint64 { return uint64(rng.IntN(3)) - 1 },
	"flat":     func(rng *rand.Rand, _ volume.Type, _ int) uint64 { return uint64(rng.IntN(40) / 39) },
	"extremes": func(rng *rand.Rand, t volume.Type, _ int) uint64 {
		v := extremes[rng.IntN(len(extremes))]
		return v >> (rng.IntN(2) * (64 - 8*t.Size()))
	},
	"finite": func(rng *rand.Rand, t volume.Type, _ int) uint64 {
		f := rng.NormFloat64() * math.Exp(10*rng.NormFloat64())
		if t == volume.Float32 {
			return uint64(math.Float32bits(float32(f)))
		}
		return math.Float64bits(f)
	},
}

func (a array) fill(seed uint64, with func(*rand.Rand, volume.Type, int) uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	i := 0
	for p := range a.box().All() {
		for c := range a.channels {
			v := with(rng, a.t, i)
			for j := range a.value(p, c) {
				a.value(p, c)[j] = byte(v >> (8 * j))
			}
			i++
		}
	}
}

func mustNew(t testing.TB, m Method, typ volume.Type, channels int, ratio volume.Vec) *Reducer {
	t.Helper()
	r, err := New(m, typ, channels, ratio)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReduce compares every method, type and ratio with a model that computes with numbers of any size.
func TestReduce(t *testing.T) {
	sizes := []volume.Vec{{1, 1, 1}, {2, 3, 2}, {3, 1, 2}, {4, 2, 1}, {5, 2, 2}, {8, 1, 1}, {17, 2, 1}, {33, 1, 2}}
	for _, m := range Methods() {
		for _, typ := range volume.Types() {
			t.Run(fmt.Sprintf("%v/%v", m, typ), func(t *testing.T) {
				t.Parallel()
				seed := uint64(0)
				for _, ratio := range ratios() {
					for _, channels := range []int{1, 2, 3} {
						r := mustNew(t, m, typ, channels, ratio)
						for i, size := range sizes {
							start, gap := i%8, (i*5+channels)%11
							src := newArray(typ, channels, size.Mul(ratio), start, gap, 3*gap)
							for _, fill := range fills {
								seed++
								src.fill(seed, fill)
								dst := newArray(typ, channels, size, 7-start, 10-gap, i)
								copy(dst.b, bytes.Repeat([]byte{0xa5}, len(dst.b)))
								r.Reduce(dst.b, dst.pitch, src.b, src.pitch, src.size)
								check(t, m, ratio, dst, src, src.box(), 0xa5)
							}
						}
					}
				}
			})
		}
	}
}

// TestExamples holds what the comments of the methods say.
func TestExamples(t *testing.T) {
	for _, test := range []struct {
		m    Method
		t    volume.Type
		in   []float64 // integers, or floats for the float types
		want float64
	}{
		{Mean, volume.Uint8, []float64{0, 1}, 1},
		{Mean, volume.Int8, []float64{-1, -2}, -1},
		{Mean, volume.Int16, []float64{-3, -3, -4, -4}, -3},
		{Mean, volume.Uint8, []float64{0, 0, 0, 0, 0, 0, 0, 3}, 0},
		{Mean, volume.Uint8, []float64{0, 0, 0, 0, 0, 0, 0, 4}, 1},
		{Mean, volume.Uint8, []float64{255, 255, 255, 255, 255, 255, 255, 252}, 255},
		{Mean, volume.Float32, []float64{0, 1}, 0.5},
		{Mean, volume.Float64, []float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
		{Mode, volume.Uint32, []float64{7, 3, 3, 7}, 3},
		{Mode, volume.Int32, []float64{0, -3}, -3},
		{Mode, volume.Uint64, []float64{5, 4, 3, 9, 2, 8, 9, 1}, 9},
		{Mode, volume.Float32, []float64{math.NaN(), math.NaN(), 2, 2}, 2},
		{Mode, volume.Float32, []float64{0, math.Copysign(0, -1), -1, 1}, 0},
		{Nearest, volume.Uint16, []float64{5, 4, 3, 9}, 5},
		{Max, volume.Int8, []float64{-5, -4, -3, -128}, -3},
		{Max, volume.Float64, []float64{math.NaN(), -1, math.Inf(-1), math.NaN()}, -1},
	} {
		ratio := map[int]volume.Vec{2: {2, 1, 1}, 4: {2, 2, 1}, 8: {2, 2, 2}}[len(test.in)]
		src, dst := newArray(test.t, 1, ratio, 0, 0, 0), newArray(test.t, 1, volume.Cube(1), 0, 0, 0)
		i := -1
		src.fill(0, func(_ *rand.Rand, typ volume.Type, _ int) uint64 {
			i++
			switch typ {
			case volume.Float32:
				return uint64(math.Float32bits(float32(test.in[i])))
			case volume.Float64:
				return math.Float64bits(test.in[i])
			}
			return uint64(int64(test.in[i]))
		})
		mustNew(t, test.m, test.t, 1, ratio).Reduce(dst.b, dst.pitch, src.b, src.pitch, ratio)
		var got float64
		if test.t.IsFloat() {
			got = floatOf(dst.b)
		} else {
			got, _ = number(test.t, dst.b).Float64()
		}
		if got != test.want {
			t.Errorf("%v of %v %v: got %v, want %v", test.m, test.t, test.in, got, test.want)
		}
	}
}

// TestPadding holds what the package comment promises: if the border is repeated, only the voxels inside the box count.
func TestPadding(t *testing.T) {
	for _, m := range Methods() {
		for _, typ := range volume.Types() {
			for _, ratio := range ratios() {
				r := mustNew(t, m, typ, 2, ratio)
				// the part of the first and last cell that is outside
				for corner := range (volume.Box{Max: ratio}).All() {
					size := volume.Vec{10, 3, 2}.Mul(ratio)
					src := newArray(typ, 2, size, 0, 1, 2)
					src.fill(1, fills["random"])
					inside := volume.Box{Min: corner, Max: size.Sub(corner)}
					if inside.Empty() {
						continue
					}
					for p := range src.box().All() {
						for c := range 2 {
							q := p.Max(inside.Min).Min(inside.Max.Sub(volume.Cube(1)))
							copy(src.value(p, c), src.value(q, c))
						}
					}
					dst := newArray(typ, 2, size.Div(ratio), 0, 0, 0)
					r.Reduce(dst.b, dst.pitch, src.b, src.pitch, src.size)
					check(t, m, ratio, dst, src, inside, 0)
				}
			}
		}
	}
}

func TestMethods(t *testing.T) {
	for _, m := range Methods() {
		if got, err := ParseMethod(m.String()); got != m || err != nil {
			t.Errorf("ParseMethod(%q): got %v, %v", m.String(), got, err)
		}
	}
	if got := fmt.Sprint(Methods(), Method(0), Method(9)); got != "[mean mode nearest max] Method(0) Method(9)" {
		t.Errorf("names: got %s", got)
	}
	for _, name := range []string{"", "Mean", "median", "none"} {
		if m, err := ParseMethod(name); err == nil || !strings.Contains(err.Error(), "mean, mode, nearest, max") {
			t.Errorf("ParseMethod(%q): got %v, %v, want an error that lists the methods", name, m, err)
		}
	}
}

func TestNewErrors(t *testing.T) {
	two := volume.Cube(2)
	for _, test := range []struct {
		m        Method
		t        volume.Type
		channels int
		ratio    volume.Vec
		want     string
	}{
		{0, volume.Uint8, 1, two, "unknown downsampling method Method(0)"},
		{Mean, 0, 1, two, "unknown voxel type Type(0)"},
		{Mean, volume.Uint8, 0, two, "expected at least 1 channel, found 0"},
		{Mean, volume.Uint8, 1, volume.Cube(1), "cannot reduce 1,1,1 voxels to one"},
		{Mean, volume.Uint8, 1, volume.Vec{2, 3, 1}, "cannot reduce 2,3,1 voxels to one"},
		{Mean, volume.Uint8, 1, volume.Vec{2, 2, 0}, "cannot reduce 2,2,0 voxels to one"},
	} {
		if _, err := New(test.m, test.t, test.channels, test.ratio); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("New(%v, %v, %d, %v): got %v, want %q", test.m, test.t, test.channels, test.ratio, err, test.want)
		}
	}
}

// TestPanics: the kernels check no bounds, so Reduce must.
func TestPanics(t *testing.T) {
	r := mustNew(t, Mean, volume.Uint16, 3, volume.Vec{2, 2, 1})
	size, voxel := volume.Vec{8, 4, 2}, 6
	out := volume.Vec{4, 2, 2}
	in, to := PitchOf(size, voxel), PitchOf(out, voxel)
	dst, src := make([]byte, 4*2*2*voxel), make([]byte, 8*4*2*voxel)
	r.Reduce(dst, to, src, in, size)
	r.Reduce(nil, to, nil, in, volume.Vec{8, 0, 2})
	for want, call := range map[string]func(){
		"dst: expected at least 96 bytes for 4,2,2 voxels, found 95":     func() { r.Reduce(dst[1:], to, src, in, size) },
		"src: expected at least 384 bytes for 8,4,2 voxels, found 383":   func() { r.Reduce(dst, to, src[1:], in, size) },
		"7,4,2 voxels are not a multiple of 2,2,1":                       func() { r.Reduce(dst, to, src, in, volume.Vec{7, 4, 2}) },
		"src: the pitches {Row:47 Plane:192} are too small":              func() { r.Reduce(dst, to, src, Pitch{47, 192}, size) },
		"src: the pitches {Row:48 Plane:191} are too small":              func() { r.Reduce(dst, to, src, Pitch{48, 191}, size) },
		"dst: the pitches {Row:-1 Plane:48} are too small for 4,2,2 vox": func() { r.Reduce(dst, Pitch{-1, 48}, src, in, size) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			call()
		}()
	}
}

// TestParts: goroutines reduce parts of one array with one Reducer, without allocating.
func TestParts(t *testing.T) {
	ratio, size := volume.Vec{2, 2, 2}, volume.Vec{64, 8, 8}
	r := mustNew(t, Mean, volume.Uint8, 1, ratio)
	src, dst := newArray(volume.Uint8, 1, size, 0, 0, 0), newArray(volume.Uint8, 1, size.Div(ratio), 0, 0, 0)
	src.fill(1, fills["random"])
	part := volume.Vec{32, 2, 4} // of src
	var wg sync.WaitGroup
	for at := range (volume.Box{Max: size.Div(part)}).All() {
		wg.Go(func() {
			r.Reduce(dst.b[at.Mul(part).Div(ratio).Index(dst.size):], dst.pitch, src.b[at.Mul(part).Index(size):],
				src.pitch, part)
		})
	}
	wg.Wait()
	check(t, Mean, ratio, dst, src, src.box(), 0)

	if voxeltest.Race {
		return // the race detector allocates
	}
	for _, m := range Methods() {
		for _, typ := range volume.Types() {
			r := mustNew(t, m, typ, 1, ratio)
			src, dst := newArray(typ, 1, size, 0, 0, 0), newArray(typ, 1, size.Div(ratio), 0, 0, 0)
			if n := testing.AllocsPerRun(10, func() { r.Reduce(dst.b, dst.pitch, src.b, src.pitch, size) }); n > 0 {
				t.Errorf("%v of %v: %v allocations per call, want none", m, typ, n)
			}
		}
	}
}

func FuzzReduce(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(6), uint8(0), uint8(9), []byte("some values that are not aligned"))
	f.Add(uint8(1), uint8(2), uint8(3), uint8(2), uint8(1), slices.Repeat([]byte{1, 0, 0, 0, 2, 0, 0, 0}, 20))
	f.Add(uint8(3), uint8(9), uint8(5), uint8(0), uint8(2), slices.Repeat([]byte{0, 0, 0, 0, 0, 0, 0xf8, 0xff, 1}, 30))
	f.Fuzz(func(t *testing.T, method, typ, ratio, channels, width uint8, content []byte) {
		m, types := Methods()[int(method)%len(Methods())], volume.Types()
		a := array{t: types[int(typ)%len(types)], channels: int(channels)%5 + 1}
		by := ratios()[int(ratio)%len(ratios())]
		row := (int(width)%40 + 1) * by[0]
		rows := len(content) / (row * a.channels * a.t.Size()) / (by[1] * by[2])
		if rows == 0 {
			return
		}
		a.size = volume.Vec{row, rows * by[1], by[2]}
		a.b, a.pitch = content, PitchOf(a.size, a.channels*a.t.Size())
		dst := newArray(a.t, a.channels, a.size.Div(by), 1, int(width)%3, 0)
		mustNew(t, m, a.t, a.channels, by).Reduce(dst.b, dst.pitch, a.b, a.pitch, a.size)
		check(t, m, by, dst, a, a.box(), 0)
	})
}
