package downsample

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

// array is an array with gaps: the model of what Reduce reads and writes.
type array struct {
	b        []byte
	pitch    Pitch
	size     volume.Vec
	t        volume.Type
	channels int
}

// newArray returns an array with rowGap bytes after each row, and planeGap more after each plane. It starts start bytes
// after the start of an allocation, so that words need not be aligned. Nothing follows its last value.
func newArray(t volume.Type, channels int, size volume.Vec, start, rowGap, planeGap int) array {
	row := size[0] * channels * t.Size()
	p := Pitch{Row: row + rowGap, Plane: (row+rowGap)*size[1] + planeGap}
	n := max(0, (size[2]-1)*p.Plane+(size[1]-1)*p.Row+row)
	return array{slices.Clip(make([]byte, start+n)[start:]), p, size, t, channels}
}

// value returns the bytes of a value.
func (a array) value(at volume.Vec, c int) []byte {
	n := a.t.Size()
	i := at[2]*a.pitch.Plane + at[1]*a.pitch.Row + (at[0]*a.channels+c)*n
	return a.b[i : i+n]
}

// cell returns the values that become one, x fastest, as far as they are inside of a box.
func (a array) cell(at volume.Vec, c int, ratio volume.Vec, inside volume.Box) (all [][]byte) {
	cell := at.BoxOfOne().Mul(ratio)
	for p := range cell.Intersect(inside).All() {
		all = append(all, a.value(p, c))
	}
	return all
}

func (a array) box() volume.Box { return volume.Box{Max: a.size} }

// bits returns the bytes of a value as a number.
func bits(b []byte) (v uint64) {
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// number returns the value of an integer.
func number(t volume.Type, b []byte) *big.Int {
	if t.IsUnsigned() {
		return new(big.Int).SetUint64(bits(b))
	}
	shift := 64 - 8*len(b)
	return big.NewInt(int64(bits(b)<<shift) >> shift)
}

// floatOf returns the value of a float.
func floatOf(b []byte) float64 {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// matches reports whether got is what the method makes of the values.
func matches(m Method, t volume.Type, got []byte, values [][]byte) bool {
	switch {
	case m == Nearest:
		return bits(got) == bits(values[0])
	case t.IsFloat():
		return matchesFloat(m, got, values)
	}
	var numbers []*big.Int
	for _, v := range values {
		numbers = append(numbers, number(t, v))
	}
	return number(t, got).Cmp(reduced(m, numbers)) == 0
}

// reduced is the model of Mean, Mode and Max for integers.
func reduced(m Method, v []*big.Int) *big.Int {
	slices.SortFunc(v, (*big.Int).Cmp)
	switch m {
	case Max:
		return v[len(v)-1]
	case Mode:
		return v[mostFrequent(len(v), func(i, j int) bool { return v[i].Cmp(v[j]) == 0 })]
	}
	sum := new(big.Int)
	for _, x := range v {
		sum.Add(sum, x)
	}
	n := big.NewInt(int64(len(v)))
	sum.Add(sum.Lsh(sum, 1), n)      // 2·sum + n
	return sum.Div(sum, n.Lsh(n, 1)) // Euclidean: rounds down, as n is positive
}

// mostFrequent returns the first of the indexes whose values occur most often.
func mostFrequent(n int, equal func(i, j int) bool) int {
	best, most := 0, 0
	for i := range n {
		count := 0
		for j := range n {
			if equal(i, j) {
				count++
			}
		}
		if count > most {
			best, most = i, count
		}
	}
	return best
}

// matchesFloat compares numbers, not bits: all NaNs are equal, and −0 is 0.
func matchesFloat(m Method, got []byte, values [][]byte) bool {
	var v []float64
	for _, b := range values {
		v = append(v, floatOf(b))
	}
	slices.SortFunc(v, func(a, b float64) int { // NaN last
		switch {
		case a == b || a != a && b != b:
			return 0
		case a < b || b != b:
			return -1
		}
		return 1
	})
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	switch m {
	case Max:
		if i := slices.IndexFunc(v, math.IsNaN); i > 0 {
			v = v[:i]
		}
		return same(floatOf(got), v[len(v)-1])
	case Mode:
		return same(floatOf(got), v[mostFrequent(len(v), func(i, j int) bool { return same(v[i], v[j]) })])
	}
	largest := 0.0
	for _, x := range v {
		largest = math.Max(largest, math.Abs(x))
	}
	return closeTo(got, meanOf(v), largest)
}

// meanOf returns the exact mean, if it is finite.
func meanOf(v []float64) *big.Float {
	special, sum := 0.0, new(big.Float).SetPrec(4000)
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			special += x
			continue
		}
		sum.Add(sum, big.NewFloat(x))
	}
	switch {
	case math.IsNaN(special):
		return nil
	case special != 0:
		return big.NewFloat(special)
	}
	return sum.Quo(sum, big.NewFloat(float64(len(v))))
}

// closeTo reports whether a float is a number that was computed in float64 from others up to largest. NaN is close to
// nil.
func closeTo(got []byte, want *big.Float, largest float64) bool {
	g := floatOf(got)
	switch {
	case want == nil || math.IsNaN(g):
		return want == nil && math.IsNaN(g)
	case want.IsInf() || math.IsInf(g, 0):
		return want.IsInf() && math.IsInf(g, want.Sign())
	}
	w, _ := want.Float64()
	tolerance := 1e-300 + largest*0x1p-51
	if len(got) == 4 {
		tolerance += math.Abs(w)*0x1p-24 + 0x1p-150
	}
	return math.Abs(g-w) <= tolerance
}

// check compares each value of dst with the model, and the gaps with fill. The model takes the voxels of src inside a
// box.
func check(t *testing.T, m Method, ratio volume.Vec, dst, src array, inside volume.Box, fill byte) {
	t.Helper()
	rest := slices.Clone(dst.b)
	for p := range dst.box().All() {
		for c := range dst.channels {
			got, values := dst.value(p, c), src.cell(p, c, ratio, inside)
			if !matches(m, src.t, got, values) {
				t.Fatalf("%v of %v, ratio %v, %d channels, %v voxels, voxel %v, channel %d: got % x for % x",
					m, src.t, ratio, src.channels, src.size, p, c, got, values)
			}
			copy(array{rest, dst.pitch, dst.size, dst.t, dst.channels}.value(p, c),
				bytes.Repeat([]byte{fill}, len(got)))
		}
	}
	if i := slices.IndexFunc(rest, func(b byte) bool { return b != fill }); i >= 0 {
		t.Fatalf("%v of %v, ratio %v, %v voxels: byte %d, in a gap, became %#x", m, src.t, ratio, src.size, i, dst.b[i])
	}
}
