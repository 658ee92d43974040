package importer

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

func TestFactors(t *testing.T) {
	for _, test := range []struct {
		scale [3]float64
		size  volume.Vec
		want  string
	}{
		{[3]float64{11.24, 11.24, 28}, volume.Cube(100), "[1 2-2-1 4-4-2 8-8-4]"},
		{[3]float64{10, 10, 10}, volume.Cube(100), "[1 2 4 8]"},
		{[3]float64{4, 4, 40}, volume.Cube(100), "[1 2-2-1 4-4-1 8-8-1]"},
		{[3]float64{50, 10, 10}, volume.Cube(100), "[1 1-2-2 1-4-4 2-8-8]"},
		{[3]float64{10, 10, 10}, volume.Vec{100, 100, 1}, "[1 2-2-1 4-4-1 8-8-1]"},
		{[3]float64{10, 20, 1}, volume.Vec{100, 100, 1}, "[1 2-1-1 4-2-1 8-4-1]"},
		{[3]float64{10, 10, 10}, volume.Cube(1), "[1]"},
	} {
		if got := fmt.Sprint(factors(test.scale, test.size, 3)); got != test.want {
			t.Errorf("%v voxels of %v nm: got %s, want %s", test.size, test.scale, got, test.want)
		}
	}
}

// TestMags compares coarser mags with a model that computes them from whole arrays.
func TestMags(t *testing.T) {
	for _, typ := range volume.Types() {
		for _, category := range []string{Color, Segmentation} {
			float := typ == volume.Float32 || typ == volume.Float64
			if float && category == Segmentation {
				continue
			}
			t.Run(fmt.Sprint(typ, category), func(t *testing.T) {
				dir := voxeltest.TempDir(t)
				a := array(typ, 1)
				voxels := voxeltest.Pattern(a.Grid)
				if category == Segmentation { // few ids, so that some are frequent
					for i := range voxels {
						if voxels[i] %= 3; i%typ.Size() > 0 {
							voxels[i] = 0
						}
					}
				}
				o := small("l")
				o.Category, o.Mags = category, 3
				out := filepath.Join(dir, "out")
				if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), out,
					o); err != nil {
					t.Fatal(err)
				}
				mounted := tree(t, out)
				all := factors(spacing, size, 3)
				finer := model{volume.Box{Min: origin, Max: origin.Add(size)}, numbers(typ, voxels)}
				for i, f := range all[1:] {
					finer = finer.reduced(all[i], f, origin, size, category == Segmentation, float)
					got := numbers(typ, read(t, mounted, fmt.Sprintf("l/%v/volume.raw", f)))
					if len(got) != len(finer.values) {
						t.Fatalf("mag %v: %d voxels, want %d", f, len(got), len(finer.values))
					}
					for j := range got {
						if math.Abs(got[j]-finer.values[j]) > math.Abs(finer.values[j])*1e-6 {
							t.Fatalf("mag %v, voxel %d: got %v, want %v", f, j, got[j], finer.values[j])
						}
					}
					finer.values = got // so that rounding errors do not add up
				}
			})
		}
	}
}

// model is an array as a list of numbers, in Fortran order.
type model struct {
	box    volume.Box
	values []float64
}

func numbers(t volume.Type, b []byte) []float64 {
	var all []float64
	for v := range slices.Chunk(b, t.Size()) {
		switch t {
		case volume.Float32:
			all = append(all, float64(math.Float32frombits(binary.LittleEndian.Uint32(v))))
		case volume.Float64:
			all = append(all, math.Float64frombits(binary.LittleEndian.Uint64(v)))
		default:
			var b [8]byte
			copy(b[:], v)
			n, shift := binary.LittleEndian.Uint64(b[:]), 64-8*t.Size()
			if t.IsUnsigned() {
				all = append(all, float64(n))
			} else {
				all = append(all, float64(int64(n<<shift)>>shift))
			}
		}
	}
	return all
}

func (m model) reduced(from, to volume.Factor, origin, size volume.Vec, ids, float bool) model {
	f := volume.Vec(to)
	out := model{box: volume.Box{Min: origin.Div(f), Max: origin.Add(size).CeilDiv(f)}}
	ratio := volume.Vec(to).Div(volume.Vec(from))
	for p := range out.box.All() {
		var v []float64
		for q := range p.BoxOfOne().Mul(ratio).All() {
			outside := 0.0
			if at := q.Sub(m.box.Min); at.In(m.box.Size()) {
				v = append(v, m.values[at.Index(m.box.Size())])
			} else {
				v = append(v, outside)
			}
		}
		best, most, sum := 0.0, 0, 0.0
		slices.Sort(v)
		for _, x := range v {
			n := 0
			for _, y := range v {
				if x == y {
					n++
				}
			}
			if n > most {
				best, most = x, n
			}
			sum += x / float64(len(v))
		}
		switch {
		case ids:
		case float:
			best = sum
		default:
			best = math.Floor(sum + 0.5)
		}
		out.values = append(out.values, best)
	}
	return out
}

// TestChannelsAreReducedSeparately: a mean is that of one channel.
func TestChannelsAreReducedSeparately(t *testing.T) {
	dir := voxeltest.TempDir(t)
	a := header.Array{Grid: volume.Grid{Size: volume.Cube(2), Block: volume.Cube(1), Type: volume.Uint8, Channels: 2,
		Spacing: [3]float64{1, 1, 1}}}
	voxels := slices.Repeat([]byte{10, 200}, 8)
	o := small("l")
	o.Mags = 1
	if err := Import(t.Context(), mustOpenRaw(t, voxeltest.Export(t, dir, a, voxels, ".raw"), a.Grid), dir,
		o); err != nil {
		t.Fatal(err)
	}
	if got := read(t, tree(t, dir), "l/2/volume.raw"); !slices.Equal(got, []byte{10, 200}) {
		t.Errorf("got %v, want [10 200]", got)
	}
}
