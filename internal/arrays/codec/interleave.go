package codec

// interleaveWords interleaves the planes of src, with words of eight bytes. It returns how many values are done: those
// of other sizes than 2, 4 and 8 are not.
func interleaveWords(dst, src []byte, size int) int {
	values := len(src) / size
	switch size {
	case 2:
		return interleave2(dst, src[:values], src[values:])
	case 4:
		return interleave4(dst, src[:values], src[values:2*values], src[2*values:3*values], src[3*values:])
	case 8:
		return interleave8(dst, src)
	}
	return 0
}

// interleave2 interleaves two planes. It returns how many values of each are done: a multiple of 8.
func interleave2(dst, p0, p1 []byte) int {
	n := len(p0) &^ 7
	p1 = p1[:len(p0)]
	for i := 0; i+8 <= n; i += 8 {
		a, b := load(p0[i:i+8]), load(p1[i:i+8])
		to := dst[:16]
		dst = dst[16:]
		store(to, zip(a&low32|b<<32))
		store(to[8:], zip(a>>32|b&^low32))
	}
	return n
}

// interleave4 is interleave2 for four planes.
func interleave4(dst, p0, p1, p2, p3 []byte) int {
	n := len(p0) &^ 7
	p1, p2, p3 = p1[:len(p0)], p2[:len(p0)], p3[:len(p0)]
	for i := 0; i+8 <= n; i += 8 {
		a, b, c, d := load(p0[i:i+8]), load(p1[i:i+8]), load(p2[i:i+8]), load(p3[i:i+8])
		a, c = exchange(a, c, 16, low16s)
		b, d = exchange(b, d, 16, low16s)
		a, b = exchange(a, b, 8, low8s)
		c, d = exchange(c, d, 8, low8s)
		// Each word has two values: a has 0 and 4, b has 1 and 5, c has 2 and 6, d has 3 and 7.
		to := dst[:32]
		dst = dst[32:]
		store(to, a&low32|b<<32)
		store(to[8:], c&low32|d<<32)
		store(to[16:], a>>32|b&^low32)
		store(to[24:], c>>32|d&^low32)
	}
	return n
}

// interleave8 is interleave2 for the eight planes of src.
func interleave8(dst, src []byte) int {
	n := len(src) / 8
	for i := 0; i+8 <= n; i += 8 {
		a, b, c, d := load(src[i:]), load(src[n+i:]), load(src[2*n+i:]), load(src[3*n+i:])
		e, f, g, h := load(src[4*n+i:]), load(src[5*n+i:]), load(src[6*n+i:]), load(src[7*n+i:])
		a, b, c, d, e, f, g, h = transposeBytes(a, b, c, d, e, f, g, h)
		storeAll((*[64]byte)(dst[8*i:]), a, b, c, d, e, f, g, h)
	}
	return n &^ 7
}

// zip interleaves the lower four bytes of v with its upper four.
func zip(v uint64) uint64 {
	t := (v ^ v>>16) & 0x00000000ffff0000
	v ^= t ^ t<<16
	t = (v ^ v>>8) & 0x0000ff000000ff00
	return v ^ t ^ t<<8
}
