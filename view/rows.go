package view

import "encoding/binary"

// copyRows copies rows of n bytes that are a stride apart in dst and another in src:
// the innermost loop of every read. A row of a block is short, most often 32 bytes,
// so that a call of memmove for each would take as long as the copy.
func copyRows(dst, src []byte, n, rows, dstStride, srcStride int) {
	if n == 32 {
		copyRows32(dst, src, rows, dstStride, srcStride)
		return
	}
	for i := range rows {
		copy(dst[i*dstStride:i*dstStride+n], src[i*srcStride:i*srcStride+n])
	}
}

// copyRows32 moves each row through four registers.
func copyRows32(dst, src []byte, rows, dstStride, srcStride int) {
	le := binary.LittleEndian
	for i := range rows {
		d := dst[i*dstStride : i*dstStride+32 : i*dstStride+32]
		s := src[i*srcStride : i*srcStride+32 : i*srcStride+32]
		a, b, c, e := le.Uint64(s), le.Uint64(s[8:]), le.Uint64(s[16:]), le.Uint64(s[24:])
		le.PutUint64(d, a)
		le.PutUint64(d[8:], b)
		le.PutUint64(d[16:], c)
		le.PutUint64(d[24:], e)
	}
}
