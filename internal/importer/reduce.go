package importer

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// reducer returns the function that makes one value of up to eight: the most frequent
// for ids, of equally frequent ones the smallest; else the mean, to the nearest whole number, and
// upwards from the middle between two.
func reducer(t volume.Type, ids bool) func(dst []byte, values [][]byte) {
	switch t {
	case volume.Uint8, volume.Uint16, volume.Uint32, volume.Uint64:
		return reduceWith(littleEndian, putLittleEndian, choose(ids, meanUnsigned))
	case volume.Int8, volume.Int16, volume.Int32, volume.Int64:
		return reduceWith(signed, func(b []byte, v int64) { putLittleEndian(b, uint64(v)) }, choose(ids, meanSigned))
	case volume.Float32:
		return reduceWith(float32At, putFloat32, meanFloat)
	}
	return reduceWith(float64At, putFloat64, meanFloat)
}

// reduceWith reads the values, reduces them and writes the result.
func reduceWith[T any](get func([]byte) T, put func([]byte, T), reduce func([]T) T) func([]byte, [][]byte) {
	return func(dst []byte, values [][]byte) {
		var numbers [8]T
		for i, v := range values {
			numbers[i] = get(v)
		}
		put(dst, reduce(numbers[:len(values)]))
	}
}

func choose[T uint64 | int64](ids bool, mean func([]T) T) func([]T) T {
	if ids {
		return mode[T]
	}
	return mean
}

// mode returns the most frequent value, of equally frequent ones the smallest.
func mode[T uint64 | int64](v []T) T {
	slices.Sort(v)
	best, most, run := v[0], 0, 0
	for i := range v {
		if i > 0 && v[i] != v[i-1] {
			run = 0
		}
		if run++; run > most {
			best, most = v[i], run
		}
	}
	return best
}

// meanUnsigned divides before it adds, as eight numbers of 64 bits have no sum.
func meanUnsigned(v []uint64) uint64 {
	n := uint64(len(v))
	whole, rest := uint64(0), uint64(0)
	for _, x := range v {
		whole += x / n
		rest += x % n
	}
	return whole + (2*rest+n)/(2*n)
}

func meanSigned(v []int64) int64 {
	n := int64(len(v))
	whole, rest := int64(0), int64(0)
	for _, x := range v {
		q, r := x/n, x%n
		if r < 0 {
			q, r = q-1, r+n
		}
		whole += q
		rest += r
	}
	return whole + (2*rest+n)/(2*n)
}

func meanFloat(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func putLittleEndian(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

func signed(b []byte) int64 {
	shift := 64 - 8*len(b)
	return int64(littleEndian(b)<<shift) >> shift
}

func float32At(b []byte) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
}
func float64At(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

func putFloat32(b []byte, v float64) {
	binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
}
func putFloat64(b []byte, v float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(v)) }
