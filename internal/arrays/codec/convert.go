package codec

import (
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Convert is a codec of values: it decodes values that are stored as From to values as To. Which arithmetic it does
// says Name, with the names of numcodecs and of the extensions of Zarr:
//
//   - "delta": each value is the sum of all stored ones so far, in the type of To.
//   - "fixedscaleoffset": value / Scale + Offset, in float64, or in float32 if From is a float of 32 bits or less; then
//     as "astype".
//   - "astype": what numpy's cast gives. Integers wrap; floats lose their fraction.
//   - "scale_offset": value / Scale + Offset in the type, which is the same for From and To. Integers have to be exact.
//   - "cast_value": the values of Map, and others by Rounding and Outside.
//   - "float16": as "astype".
//
// A number that To does not have is an error.
type Convert struct {
	Name          string
	From, To      Number
	Scale, Offset Value // of a type of the codec; see above
	Rounding      Rounding
	Outside       OutOfRange
	Map           *[]Mapped
}

// Value is a number. Whole has its bits, if it is that of a type of integers.
type Value struct {
	Whole int64
	Float float64
}

// Mapped is a stored value that is decoded as another one.
type Mapped struct{ From, To Value }

// Decode implements [Codec].
func (c Convert) Decode(dst, src []byte, limit int) ([]byte, error) {
	from, to := c.From.Size(), c.To.Size()
	n := len(src) / from
	switch {
	case len(src)%from != 0:
		return nil, invalid(c, "data", len(src)-len(src)%from, fmt.Sprintf("values of %d bytes", from),
			fmt.Sprintf("%d bytes", len(src)%from))
	case n > limit/to:
		return nil, tooLong(c, limit)
	}
	dst = room(dst, limit)
	b := new(batch)
	sum := Value{}
	for at := 0; at < n; at += batchValues {
		b.load(c.From, src[at*from:min(at+batchValues, n)*from])
		bad := c.apply(b, &sum)
		if bad >= 0 {
			return nil, invalid(c, "value", (at+bad)*from,
				fmt.Sprintf("a value that is a number of type %v when it is decoded", c.To), b.text(bad))
		}
		b.store(c.To, dst[at*to:])
	}
	return dst[:n*to], nil
}

// apply decodes a batch. It returns the index of a value that cannot be decoded, or -1. sum is that of the batches
// before.
func (c Convert) apply(b *batch, sum *Value) int {
	numpy := caster{rounding: TowardsZero, outside: Wrap}
	switch c.Name {
	case "delta":
		bad := numpy.cast(b, c.To)
		c.addUp(b, sum)
		return bad
	case "fixedscaleoffset":
		single := c.From.Type == volume.Float32
		if !b.typ.IsFloat() {
			numpy.cast(b, Number{Type: volume.Float64})
		}
		for i := range b.n {
			b.float[i] = c.scaled(b.float[i], single)
		}
		b.typ = volume.Float64
		return caster{rounding: TowardsZero}.cast(b, c.To) // numpy leaves open what is outside
	case "scale_offset":
		return c.scaleOffset(b)
	case "cast_value":
		return c.castValue(b)
	}
	if b.typ.IsFloat() {
		numpy.outside = Fail
	}
	return numpy.cast(b, c.To)
}

func (c Convert) addUp(b *batch, sum *Value) {
	for i := range b.n {
		if !c.To.Type.IsFloat() {
			sum.Whole = wrap(sum.Whole+b.whole[i], c.To.Type)
			b.whole[i] = sum.Whole
			continue
		}
		sum.Float = roundTo(sum.Float+b.float[i], c.To)
		b.float[i] = sum.Float
	}
}

// roundTo returns the float of a type that is nearest.
func roundTo(f float64, as Number) float64 {
	switch {
	case as.Half:
		return halfValue(HalfBits(f))
	case as.Type == volume.Float32:
		return float64(float32(f))
	}
	return f
}

// scaled returns f / Scale + Offset, with the rounding of each step.
func (c Convert) scaled(f float64, single bool) float64 {
	if !single {
		return f/c.Scale.Float + c.Offset.Float
	}
	as := c.From
	return roundTo(roundTo(f/roundTo(c.Scale.Float, as), as)+roundTo(c.Offset.Float, as), as)
}

func (c Convert) scaleOffset(b *batch) int {
	if b.typ.IsFloat() {
		for i := range b.n {
			b.float[i] = c.scaled(b.float[i], b.typ == volume.Float32)
		}
		return -1
	}
	for i, n := range b.whole[:b.n] {
		var ok bool
		if b.whole[i], ok = divideAdd(n, c.Scale.Whole, c.Offset.Whole, b.typ); !ok {
			b.whole[i] = n
			return i
		}
	}
	return -1
}

// divideAdd returns n / scale + offset. It returns false if that is not an integer of the type.
func divideAdd(n, scale, offset int64, t volume.Type) (int64, bool) {
	if t == volume.Uint64 {
		a, s, o := uint64(n), uint64(scale), uint64(offset)
		if s == 0 || a%s != 0 || a/s > math.MaxUint64-o {
			return 0, false
		}
		return int64(a/s + o), true
	}
	if scale == 0 || n%scale != 0 || n == math.MinInt64 && scale == -1 {
		return 0, false
	}
	q := n / scale
	sum := q + offset
	if (q < 0) == (offset < 0) && (sum < 0) != (q < 0) { // overflow
		return 0, false
	}
	return sum, sum >= smallest(t) && sum <= largest(t)
}

// castValue casts the values that are not in Map.
func (c Convert) castValue(b *batch) int {
	to := caster{c.Rounding, c.Outside}
	if c.Map == nil {
		return to.cast(b, c.To)
	}
	one := new(batch)
	for i := range b.n {
		v := Value{b.whole[i], b.float[i]}
		m, ok := c.mapped(v)
		if !ok {
			one.n, one.typ, one.whole[0], one.float[0] = 1, b.typ, v.Whole, v.Float
			if to.cast(one, c.To) >= 0 {
				return i
			}
			m = Value{one.whole[0], one.float[0]}
		}
		b.whole[i], b.float[i] = m.Whole, m.Float
	}
	b.typ = c.To.Type
	return -1
}

func (c Convert) mapped(v Value) (Value, bool) {
	for _, m := range *c.Map {
		if c.From.Type.IsFloat() && (m.From.Float == v.Float || math.IsNaN(m.From.Float) && math.IsNaN(v.Float)) ||
			!c.From.Type.IsFloat() && m.From.Whole == v.Whole {
			return m.To, true
		}
	}
	return Value{}, false
}

// Bound implements [Codec].
func (c Convert) Bound(n int) int { return n / c.To.Size() * c.From.Size() }

// String returns the name, and what tells two codecs with the same name apart.
func (c Convert) String() string {
	s := fmt.Sprintf("%s(%v to %v", c.Name, c.From, c.To)
	switch c.Name {
	case "fixedscaleoffset":
		s += fmt.Sprintf(" / %v + %v", c.Scale.Float, c.Offset.Float)
	case "scale_offset":
		if c.From.Type.IsFloat() {
			s += fmt.Sprintf(" / %v + %v", c.Scale.Float, c.Offset.Float)
		} else {
			s += fmt.Sprintf(" / %v + %v", c.Scale.Whole, c.Offset.Whole)
		}
	case "cast_value":
		s += fmt.Sprintf(" %s %s", c.Rounding, c.Outside)
		if c.Map != nil {
			s += fmt.Sprint(" ", *c.Map)
		}
	}
	return s + ")"
}
