package codec

import (
	"encoding/binary"
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Number says how a number is stored.
type Number struct {
	Type volume.Type
	Half bool // a float of 16 bits, whose Type is Float32
	Big  bool // big-endian
}

// Size returns the bytes of a number.
func (n Number) Size() int {
	if n.Half {
		return 2
	}
	return n.Type.Size()
}

func (n Number) String() string {
	if n.Half {
		return "float16"
	}
	return n.Type.String()
}

// batchValues is how many values a step converts at a time.
const batchValues = 512

// batch is some values. Integers are exact: those of uint64 have their bits in whole.
type batch struct {
	n     int
	typ   volume.Type // of the values
	whole [batchValues]int64
	float [batchValues]float64
}

// load reads the values of src, at most batchValues.
func (b *batch) load(as Number, src []byte) {
	b.typ, b.n = as.Type, len(src)/as.Size()
	var order binary.ByteOrder = binary.LittleEndian
	if as.Big {
		order = binary.BigEndian
	}
	for i := range b.n {
		var bits uint64
		switch p := src[i*as.Size():]; as.Size() {
		case 1:
			bits = uint64(p[0])
		case 2:
			bits = uint64(order.Uint16(p))
		case 4:
			bits = uint64(order.Uint32(p))
		default:
			bits = order.Uint64(p)
		}
		if as.Half {
			b.float[i] = halfValue(uint16(bits))
			continue
		}
		switch as.Type {
		case volume.Float32:
			b.float[i] = float64(math.Float32frombits(uint32(bits)))
		case volume.Float64:
			b.float[i] = math.Float64frombits(bits)
		default:
			b.whole[i] = wrap(int64(bits), as.Type)
		}
	}
}

// store writes the values, which have the type of as, little-endian or big-endian, to dst.
func (b *batch) store(as Number, dst []byte) {
	var order binary.ByteOrder = binary.LittleEndian
	if as.Big {
		order = binary.BigEndian
	}
	for i := range b.n {
		bits := uint64(b.whole[i])
		switch {
		case as.Half:
			bits = uint64(HalfBits(b.float[i]))
		case as.Type == volume.Float32:
			bits = uint64(math.Float32bits(float32(b.float[i])))
		case as.Type == volume.Float64:
			bits = math.Float64bits(b.float[i])
		}
		switch p := dst[i*as.Size():]; as.Size() {
		case 1:
			p[0] = byte(bits)
		case 2:
			order.PutUint16(p, uint16(bits))
		case 4:
			order.PutUint32(p, uint32(bits))
		default:
			order.PutUint64(p, bits)
		}
	}
}

// wrap returns an integer modulo the range of a type of integers.
func wrap(n int64, t volume.Type) int64 {
	switch t {
	case volume.Uint8:
		return int64(uint8(n))
	case volume.Uint16:
		return int64(uint16(n))
	case volume.Uint32:
		return int64(uint32(n))
	case volume.Int8:
		return int64(int8(n))
	case volume.Int16:
		return int64(int16(n))
	case volume.Int32:
		return int64(int32(n))
	}
	return n
}

// halfValue returns the value of a float of 16 bits (IEEE 754, binary16). The bits of a NaN are those of numpy: the
// fraction is kept.
func halfValue(h uint16) float64 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0:
		f := float64(fraction) * 0x1p-24
		return math.Copysign(f, float64(math.Float32frombits(sign|0x3f800000)))
	case 0x1f:
		return float64(math.Float32frombits(sign | 0x7f800000 | fraction<<13))
	}
	return float64(math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13))
}

// HalfBits returns the float of 16 bits that is nearest to f, the even one of two.
func HalfBits(f float64) uint16 {
	sign := uint16(math.Float64bits(f) >> 48 & 0x8000)
	f = math.Abs(f)
	const largest = 65520 // from here on, the nearest is infinity
	switch {
	case f != f:
		return sign | 0x7e00
	case f >= largest:
		return sign | 0x7c00
	case f < 0x1p-14: // subnormal, or the smallest normal number
		return sign | uint16(math.RoundToEven(f*0x1p24))
	}
	fraction, exponent := math.Frexp(f) // fraction in [1/2, 1)
	scaled := uint16(math.RoundToEven(fraction * 0x800))
	return sign | (uint16(exponent+14)<<10 + scaled - 0x400)
}

// Value returns the number in b.
func (n Number) Value(b []byte) Value {
	var one batch
	one.load(n, b[:n.Size()])
	return Value{one.whole[0], one.float[0]}
}
