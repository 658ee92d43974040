package hdf5

import (
	"encoding/binary"
	"fmt"
)

// bitReader reads numbers, the most significant bit first.
type bitReader struct {
	src []byte
	at  int // bit
}

// need checks that there are bits.
func (r *bitReader) need(bits uint64) error {
	if have := uint64(len(r.src))*8 - uint64(r.at); bits > have {
		return fmt.Errorf("expected %d bits, found %d", bits, have)
	}
	return nil
}

// read returns a number of 0 to 64 bits. They must be there.
func (r *bitReader) read(bits int) uint64 {
	b, shift := r.src[r.at>>3:], r.at&7
	r.at += bits
	if len(b) < 9 { // the end
		var last [9]byte
		copy(last[:], b)
		b = last[:]
	}
	word := binary.BigEndian.Uint64(b)<<shift | uint64(b[8])>>(8-shift)
	return word >> (64 - bits)
}

// readAll reads as many numbers as to has.
func (r *bitReader) readAll(to []uint64, bits int) {
	i := 0
	if 0 < bits && bits <= 57 { // they are in 8 bytes
		at, unused := r.at, uint(64-bits)
		for ; i < len(to) && at>>3+8 <= len(r.src); i++ {
			word := binary.BigEndian.Uint64(r.src[at>>3:])
			to[i] = word << (uint(at) & 7) >> (unused & 63)
			at += bits
		}
		r.at = at
	}
	for ; i < len(to); i++ {
		to[i] = r.read(bits)
	}
}

// put writes a number of len(dst) bytes.
func put(dst []byte, v uint64, bigEndian bool) {
	if bigEndian {
		for i := len(dst) - 1; i >= 0; i-- {
			dst[i] = byte(v)
			v >>= 8
		}
		return
	}
	for i := range dst {
		dst[i] = byte(v)
		v >>= 8
	}
}

// putAll writes numbers of size bytes each.
func putAll(dst []byte, values []uint64, size int, bigEndian bool) {
	switch {
	case size == 1:
		for i, v := range values {
			dst[i] = byte(v)
		}
	case size == 2 && !bigEndian:
		for i, v := range values {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(v))
		}
	case size == 4 && !bigEndian:
		for i, v := range values {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
		}
	default:
		for i, v := range values {
			put(dst[i*size:(i+1)*size], v, bigEndian)
		}
	}
}
