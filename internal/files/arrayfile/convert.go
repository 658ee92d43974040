package arrayfile

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// swap reverses the bytes of each value of size bytes. It swaps eight bytes at a time, then the rest.
func swap(b []byte, size int) {
	words := len(b) &^ 7
	switch size {
	case 2:
		const low = 0x00FF00FF00FF00FF
		for i := 0; i < words; i += 8 {
			v := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(b[i:], v&low<<8|v>>8&low)
		}
		for i := words; i+2 <= len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
	case 4:
		for i := 0; i < words; i += 8 {
			v := bits.ReverseBytes64(binary.LittleEndian.Uint64(b[i:]))
			binary.LittleEndian.PutUint64(b[i:], bits.RotateLeft64(v, 32))
		}
		for i := words; i+4 <= len(b); i += 4 {
			binary.BigEndian.PutUint32(b[i:], binary.LittleEndian.Uint32(b[i:]))
		}
	case 8:
		for i := 0; i < words; i += 8 {
			binary.BigEndian.PutUint64(b[i:], binary.LittleEndian.Uint64(b[i:]))
		}
	}
}

// widen replaces the float16 values in the second half of b by float32 values in all of b. Both are little-endian.
func widen(b []byte) {
	halves := b[len(b)/2:]
	for i := range len(b) / 4 {
		// The value is read before its bytes are written, and writes never reach the values after it.
		v := float32Bits(binary.LittleEndian.Uint16(halves[2*i:]))
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
}

// float32Bits returns the bits of the float32 with the value of a float16 (IEEE 754, binary16).
func float32Bits(h uint16) uint32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1F), uint32(h&0x3FF)
	switch exponent {
	case 0: // zero or subnormal: a multiple of 2^-24
		return sign | math.Float32bits(float32(fraction)*0x1p-24)
	case 0x1F: // infinity or NaN
		return sign | 0xFF<<23 | fraction<<13
	}
	return sign | (exponent+127-15)<<23 | fraction<<13
}
