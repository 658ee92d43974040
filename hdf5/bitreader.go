package hdf5

import "fmt"

// bitReader reads numbers, the most significant bit first.
type bitReader struct {
	src  []byte
	at   int
	held uint64 // the lowest n bits are next
	n    int
}

// need checks that there are bits.
func (r *bitReader) need(bits uint64) error {
	if have := uint64(len(r.src)-r.at)*8 + uint64(r.n); bits > have {
		return fmt.Errorf("expected %d bits, found %d", bits, have)
	}
	return nil
}

// read returns a number of at most 64 bits. They must be there.
func (r *bitReader) read(bits int) uint64 {
	if bits > 32 {
		high := r.read(bits - 32)
		return high<<32 | r.read(32)
	}
	for r.n < bits {
		r.held = r.held<<8 | uint64(r.src[r.at])
		r.at++
		r.n += 8
	}
	r.n -= bits
	return r.held >> r.n & (1<<bits - 1)
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
