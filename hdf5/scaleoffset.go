package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
)

// scaleOffset has numbers as their difference to the least one, in as few bits as the greatest needs. Floats are
// rounded to decimal digits first.
type scaleOffset struct {
	float     bool
	digits    int // of floats
	elements  int
	size      int // bytes
	bigEndian bool
	hasFill   bool
	fill      uint64
}

const (
	scaleOffsetHead   = 21 // bytes before the numbers
	scaleOffsetFloat  = 0  // kinds
	scaleOffsetDigits = 1  // of floats: with as many bits for all, which no writer implements
	scaleOffsetInt    = 2
)

// newScaleOffset reads the parameters: kind, factor, elements, class, size, sign, order, whether there is a fill
// value, and the value.
func newScaleOffset(p []uint32, chunkBytes int) (decoder, error) {
	if len(p) < 8 {
		return nil, fmt.Errorf("filter scale-offset: expected 8 parameters or more, found %d", len(p))
	}
	s := scaleOffset{float: p[0] == scaleOffsetFloat, digits: int(int32(p[1])), elements: int(p[2]), size: int(p[4]),
		bigEndian: p[6] == 1, hasFill: p[7] == 1}
	sizes := s.size == 1 || s.size == 2 || s.size == 4 || s.size == 8
	switch {
	case p[0] == scaleOffsetDigits:
		return nil, notSupported("the filter scale-offset with a variable exponent")
	case p[0] > scaleOffsetInt || (p[3] == 1) != s.float || s.float && s.size < 4:
		return nil, fmt.Errorf("filter scale-offset: expected integers or floats, found kind %d of class %d", p[0],
			p[3])
	case !sizes || s.elements > chunkBytes || s.elements*s.size != chunkBytes:
		return nil,
			fmt.Errorf("filter scale-offset: expected the elements of a chunk of %d bytes, found %d of %d bytes",
				chunkBytes, s.elements, s.size)
	}
	if s.hasFill {
		if len(p) > 8 {
			s.fill = uint64(p[8])
		}
		if len(p) > 9 {
			s.fill |= uint64(p[9]) << 32
		}
	}
	return s, nil
}

func (s scaleOffset) Decode(dst, src []byte, limit int) ([]byte, error) {
	n := s.elements * s.size
	if n > limit {
		return nil, fmt.Errorf("expected at most %d decoded bytes, found %d", limit, n)
	}
	if len(src) < scaleOffsetHead {
		return nil, fmt.Errorf("expected a header of %d bytes, found %d", scaleOffsetHead, len(src))
	}
	bits, wide := int64(binary.LittleEndian.Uint32(src)), int(src[4])
	least := binary.LittleEndian.Uint64(src[5:])
	if wide < 8 {
		least &= 1<<(8*wide) - 1
	}
	if bits > int64(8*s.size) || wide == 0 {
		return nil,
			fmt.Errorf("expected numbers of at most %d bits and a least one of 8 bytes, found %d bits and %d bytes",
				8*s.size, bits, wide)
	}
	dst, src = room(dst, limit)[:n], src[scaleOffsetHead:]
	if bits == int64(8*s.size) { // as they are
		if len(src) < n {
			return nil, fmt.Errorf("expected %d bytes of numbers, found %d", n, len(src))
		}
		copy(dst, src)
		if s.bigEndian {
			s.swap(dst)
		}
		return dst, nil
	}
	r := bitReader{src: src}
	if err := r.need(uint64(bits) * uint64(s.elements)); err != nil {
		return nil, err
	}
	var held [256]uint64
	for done := 0; done < s.elements; {
		values := held[:min(len(held), s.elements-done)]
		r.readAll(values, int(bits))
		s.convert(values, least, int(bits))
		putAll(dst[done*s.size:], values, s.size, s.bigEndian)
		done += len(values)
	}
	return dst, nil
}

// convert makes values of numbers of bits.
func (s scaleOffset) convert(values []uint64, least uint64, bits int) {
	none := uint64(1)<<bits - 1 // the fill value
	power := math.Pow(10, float64(s.digits))
	start, start32 := math.Float64frombits(least), math.Float32frombits(uint32(least))
	if !s.float {
		for i, v := range values {
			sum := least + v
			if s.hasFill && v == none {
				sum = s.fill
			}
			values[i] = sum
		}
		return
	}
	for i, v := range values {
		switch {
		case s.hasFill && v == none:
			v = s.fill
		case s.size == 4: // the library has all steps in 32 bits
			v = uint64(math.Float32bits(float32(float32(int32(v))/float32(power)) + start32))
		default:
			v = math.Float64bits(float64(float64(int64(v))/power) + start)
		}
		values[i] = v
	}
}

// swap changes the order of the bytes of all values.
func (s scaleOffset) swap(b []byte) {
	for ; len(b) >= s.size; b = b[s.size:] {
		for i, j := 0, s.size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

func (scaleOffset) Bound(n int) int { return n + scaleOffsetHead + 8 }
func (scaleOffset) String() string  { return "scale-offset" }
