package codec

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Rounding says how a float becomes an integer.
type Rounding string

// The roundings have the names of the codec cast_value of Zarr.
const (
	NearestEven     Rounding = "nearest-even"
	NearestAway     Rounding = "nearest-away"
	TowardsZero     Rounding = "towards-zero"
	TowardsPositive Rounding = "towards-positive"
	TowardsNegative Rounding = "towards-negative"
)

// Valid reports whether r is one of the constants.
func (r Rounding) Valid() bool {
	switch r {
	case NearestEven, NearestAway, TowardsZero, TowardsPositive, TowardsNegative:
		return true
	}
	return false
}

func (r Rounding) round(f float64) float64 {
	switch r {
	case NearestAway:
		return math.Round(f)
	case TowardsZero:
		return math.Trunc(f)
	case TowardsPositive:
		return math.Ceil(f)
	case TowardsNegative:
		return math.Floor(f)
	}
	return math.RoundToEven(f)
}

// OutOfRange says what becomes of a number that a type does not have.
type OutOfRange string

// The names are those of the codec cast_value of Zarr.
const (
	Fail  OutOfRange = ""
	Clamp OutOfRange = "clamp"
	Wrap  OutOfRange = "wrap"
)

// caster converts values to a type. Floats that become wider or narrower floats are rounded to the nearest, the even
// one of two.
type caster struct {
	rounding Rounding
	outside  OutOfRange
}

// cast converts a batch to a type. It returns the index of a value that has no such number, or -1.
func (c caster) cast(b *batch, to Number) int {
	defer func() { b.typ = to.Type }()
	switch {
	case b.typ.IsFloat() && to.Type.IsFloat():
		return c.floatToFloat(b, to)
	case b.typ.IsFloat():
		return c.floatToWhole(b, to.Type)
	case to.Type.IsFloat():
		return c.wholeToFloat(b, to)
	}
	return c.wholeToWhole(b, to.Type)
}

func (c caster) wholeToFloat(b *batch, to Number) int {
	for i, n := range b.whole[:b.n] {
		f := float64(n)
		switch {
		// not by way of float64, which would round twice
		case to.Type == volume.Float32 && !to.Half && b.typ == volume.Uint64:
			f = float64(float32(uint64(n)))
		case to.Type == volume.Float32 && !to.Half:
			f = float64(float32(n))
		case b.typ == volume.Uint64:
			f = float64(uint64(n))
		}
		b.float[i] = f
	}
	return c.floatToFloat(b, to)
}

func (c caster) floatToFloat(b *batch, to Number) int {
	if to.Type == volume.Float64 {
		return -1
	}
	most := float64(math.MaxFloat32)
	if to.Half {
		most = 65504
	}
	for i, f := range b.float[:b.n] {
		rounded := float64(float32(f))
		if to.Half {
			rounded = halfValue(HalfBits(f))
		}
		if math.IsInf(rounded, 0) && !math.IsInf(f, 0) && c.outside == Clamp {
			rounded = math.Copysign(most, f)
		}
		b.float[i] = rounded
	}
	return -1
}

func (c caster) floatToWhole(b *batch, to volume.Type) int {
	least, end := rangeOf(to)
	for i, f := range b.float[:b.n] {
		if math.IsNaN(f) {
			return i
		}
		f = c.rounding.round(f)
		switch {
		case f >= least && f < end:
		case c.outside == Clamp && f < least:
			f = least
		case c.outside == Clamp:
			b.whole[i] = largest(to)
			continue
		case c.outside == Wrap && !math.IsInf(f, 0):
			span := end - least // a power of two: the remainder is exact
			if f = math.Mod(f, span); f < least {
				f += span
			} else if f >= end {
				f -= span
			}
		default:
			return i
		}
		if to == volume.Uint64 {
			b.whole[i] = int64(uint64(f))
			continue
		}
		b.whole[i] = int64(f)
	}
	return -1
}

func (c caster) wholeToWhole(b *batch, to volume.Type) int {
	for i, n := range b.whole[:b.n] {
		switch {
		case fits(n, b.typ, to) || c.outside == Wrap:
			b.whole[i] = wrap(n, to)
		case c.outside == Fail:
			return i
		case n < 0 && b.typ != volume.Uint64:
			b.whole[i] = smallest(to)
		default:
			b.whole[i] = largest(to)
		}
	}
	return -1
}

// fits reports whether an integer of a type is one of another type.
func fits(n int64, from, to volume.Type) bool {
	switch {
	case from == to:
		return true
	case from == volume.Uint64:
		return n >= 0 && n <= largest(to)
	case to == volume.Uint64:
		return n >= 0
	}
	return n >= smallest(to) && n <= largest(to)
}

func smallest(t volume.Type) int64 {
	if t.IsUnsigned() {
		return 0
	}
	return math.MinInt64 >> (64 - 8*t.Size())
}

// largest returns the largest integer of a type. That of uint64 is its bits.
func largest(t volume.Type) int64 {
	if t.IsUnsigned() {
		return int64(uint64(math.MaxUint64) >> (64 - 8*t.Size()))
	}
	return math.MaxInt64 >> (64 - 8*t.Size())
}

// rangeOf returns the least integer of a type and the end of its range, which are exact as floats.
func rangeOf(t volume.Type) (least, end float64) {
	bits := 8 * t.Size()
	if t.IsUnsigned() {
		return 0, math.Ldexp(1, bits)
	}
	return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
}

// text returns value i for messages.
func (b *batch) text(i int) string {
	switch {
	case b.typ.IsFloat():
		return fmt.Sprint(b.float[i])
	case b.typ == volume.Uint64:
		return fmt.Sprint(uint64(b.whole[i]))
	}
	return fmt.Sprint(b.whole[i])
}
