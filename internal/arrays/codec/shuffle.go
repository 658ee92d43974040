package codec

import "encoding/binary"

// shufflesBytes reports whether the bytes of values are shuffled. Then their bits are not.
func (h *bloscHeader) shufflesBytes() bool { return h.flags&bloscBytes != 0 && h.valueSize > 1 }

// shufflesBits reports whether the bits of values are shuffled.
func (h *bloscHeader) shufflesBits() bool { return h.flags&bloscBits != 0 && !h.shufflesBytes() }

// unshuffle puts the bytes of a block in order. They are in scratch if bytes are shuffled, or if bits of values of one
// byte are. Otherwise they are in dst.
func (h *bloscHeader) unshuffle(dst, scratch []byte) {
	values := len(dst) / h.valueSize
	switch whole := values * h.valueSize; {
	case h.shufflesBytes():
		unshuffleBytes(dst[:whole], scratch[:whole], h.valueSize)
		copy(dst[whole:], scratch[whole:])
	case !h.shufflesBits():
	case values%8 != 0: // such a block is not shuffled
		if h.valueSize == 1 {
			copy(dst, scratch)
		}
	case h.valueSize == 1:
		unshuffleBits(dst, scratch)
	default: // the bytes after the last whole value are in place
		for i := 0; i < whole; i += values {
			unshuffleBits(scratch[i:i+values], dst[i:i+values])
		}
		unshuffleBytes(dst[:whole], scratch[:whole], h.valueSize)
	}
}

// unshuffleBytes interleaves the planes of src. Plane i has byte i of every value. size is the number of planes.
func unshuffleBytes(dst, src []byte, size int) {
	values := len(src) / size
	done := interleave(dst, src, size)
	const tile = 256 // values, so that they stay in the first cache
	for ; done < values; done += tile {
		end := min(done+tile, values)
		for i := range size {
			plane := src[i*values+done : i*values+end]
			to := dst[done*size+i:]
			for j, v := range plane {
				to[j*size] = v
			}
		}
	}
}

// unshuffleBits puts the bits of bytes in order. src has eight planes: plane i has bit i of every byte, the lowest
// first. The number of bytes is a multiple of 8.
func unshuffleBits(dst, src []byte) {
	n := len(src) / 8 // bytes of a plane
	for i := 0; i+8 <= n; i += 8 {
		a, b, c, d := load(src[i:]), load(src[n+i:]), load(src[2*n+i:]), load(src[3*n+i:])
		e, f, g, h := load(src[4*n+i:]), load(src[5*n+i:]), load(src[6*n+i:]), load(src[7*n+i:])
		// Bit j of byte k of plane p is bit p of byte 8k + j. First byte k of word j gets it, then byte j of word k.
		a, b, c, d, e, f, g, h = transposeBits(a, b, c, d, e, f, g, h)
		a, b, c, d, e, f, g, h = transposeBytes(a, b, c, d, e, f, g, h)
		storeAll((*[64]byte)(dst[8*i:]), a, b, c, d, e, f, g, h)
	}
	for i := n &^ 7; i < n; i++ {
		for j := range 8 {
			var v byte
			for p := range 8 {
				v |= src[p*n+i] >> j & 1 << p
			}
			dst[8*i+j] = v
		}
	}
}

// transposeBytes exchanges byte i of word j with byte j of word i.
func transposeBytes(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	a, e = exchange(a, e, 32, low32)
	b, f = exchange(b, f, 32, low32)
	c, g = exchange(c, g, 32, low32)
	d, h = exchange(d, h, 32, low32)
	a, c = exchange(a, c, 16, low16s)
	b, d = exchange(b, d, 16, low16s)
	e, g = exchange(e, g, 16, low16s)
	f, h = exchange(f, h, 16, low16s)
	a, b = exchange(a, b, 8, low8s)
	c, d = exchange(c, d, 8, low8s)
	e, f = exchange(e, f, 8, low8s)
	g, h = exchange(g, h, 8, low8s)
	return a, b, c, d, e, f, g, h
}

// transposeBits exchanges bit i of each byte of word j with bit j of that byte of word i.
func transposeBits(a, b, c, d, e, f, g, h uint64) (_, _, _, _, _, _, _, _ uint64) {
	a, e = exchange(a, e, 4, low4s)
	b, f = exchange(b, f, 4, low4s)
	c, g = exchange(c, g, 4, low4s)
	d, h = exchange(d, h, 4, low4s)
	a, c = exchange(a, c, 2, low2s)
	b, d = exchange(b, d, 2, low2s)
	e, g = exchange(e, g, 2, low2s)
	f, h = exchange(f, h, 2, low2s)
	a, b = exchange(a, b, 1, low1s)
	c, d = exchange(c, d, 1, low1s)
	e, f = exchange(e, f, 1, low1s)
	g, h = exchange(g, h, 1, low1s)
	return a, b, c, d, e, f, g, h
}

// The lower half of every 2, 4, 8, 16, 32 and 64 bits.
const (
	low1s  = 0x5555555555555555
	low2s  = 0x3333333333333333
	low4s  = 0x0f0f0f0f0f0f0f0f
	low8s  = 0x00ff00ff00ff00ff
	low16s = 0x0000ffff0000ffff
	low32  = 0x00000000ffffffff
)

// exchange exchanges the bits of b in the mask with those of a that are shift higher.
func exchange(a, b uint64, shift uint, mask uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & mask
	return a ^ t<<shift, b ^ t
}

func load(b []byte) uint64     { return binary.LittleEndian.Uint64(b) }
func store(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

func storeAll(to *[64]byte, a, b, c, d, e, f, g, h uint64) {
	store(to[:], a)
	store(to[8:], b)
	store(to[16:], c)
	store(to[24:], d)
	store(to[32:], e)
	store(to[40:], f)
	store(to[48:], g)
	store(to[56:], h)
}
