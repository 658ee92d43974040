package hdfsource

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// values says how stored values become those of a volume.
type values struct {
	kind      volume.Type
	stored    int // bytes of a stored value
	swapped   bool
	half      bool   // stored as floats of 16 bits
	shift     int    // bits below the value
	mask      uint64 // of the bits of the value, after the shift; 0: all of them
	signed    bool
	precision int
}

// valuesOf returns how values of a type are read. Types that are no numbers are an error.
func valuesOf(t hdf5.Datatype) (v values, err error) {
	for t.Class == hdf5.ClassEnum && t.Base != nil {
		t = *t.Base
	}
	v = values{stored: t.Size, swapped: t.BigEndian && t.Size > 1}
	switch t.Class {
	case hdf5.ClassInteger, hdf5.ClassBitField:
		name := fmt.Sprintf("int%d", 8*t.Size)
		if !t.Signed {
			name = "u" + name
		}
		if v.kind, err = volume.ParseType(name); err != nil {
			return v, fmt.Errorf("integers of %d bytes: expected 1, 2, 4 or 8", t.Size)
		}
		if t.Precision < 8*t.Size {
			v.shift, v.mask, v.signed, v.precision = t.Offset, 1<<t.Precision-1, t.Signed, t.Precision
		}
		return v, nil
	case hdf5.ClassFloat:
		switch {
		case !t.IEEE:
			return v, fmt.Errorf("floats of %d bits that are not those of IEEE 754", 8*t.Size)
		case t.Size == 2:
			v.kind, v.half = volume.Float32, true
		case t.Size == 4:
			v.kind = volume.Float32
		default:
			v.kind = volume.Float64
		}
		return v, nil
	}
	return v, fmt.Errorf("values of the class %v: expected numbers", t.Class)
}

// plain reports whether stored values are those of the volume, byte for byte.
func (v values) plain() bool { return !v.swapped && !v.half && v.mask == 0 }

// convert writes the values of src, which follow each other, to dst, at distances of step bytes.
func (v values) convert(dst []byte, step int, src []byte) {
	size := v.kind.Size()
	if v.plain() {
		if step == size {
			copy(dst, src)
			return
		}
		for at := 0; len(src) >= size; at, src = at+step, src[size:] {
			copy(dst[at:at+size], src)
		}
		return
	}
	for at := 0; len(src) >= v.stored; at, src = at+step, src[v.stored:] {
		n := v.number(src)
		if v.half {
			binary.LittleEndian.PutUint32(dst[at:], math.Float32bits(halfToFloat(uint16(n))))
			continue
		}
		for i := range size {
			dst[at+i] = byte(n >> (8 * i))
		}
	}
}

// number returns a stored value as the bits of a number.
func (v values) number(src []byte) (n uint64) {
	for i := range v.stored {
		at := i
		if v.swapped {
			at = v.stored - 1 - i
		}
		n |= uint64(src[at]) << (8 * i)
	}
	if v.mask == 0 {
		return n
	}
	n = n >> v.shift & v.mask
	if v.signed && n>>(v.precision-1) != 0 {
		n |= ^v.mask
	}
	return n
}

// halfToFloat returns a float of IEEE 754 with 16 bits.
func halfToFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
