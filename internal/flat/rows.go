package flat

// longRow is bytes for which a call of memmove pays.
const longRow = 512

// copyRows copies rows of n bytes that are a stride apart in dst and another in src:
// the innermost loop of every read. A row of a block is short, most often 32 bytes,
// so that a call of memmove for each would take as long as the copy. Where the processor can be asked to,
// it fetches meanwhile what lies so many bytes ahead in memory, which is to be copied next; there need not be
// any memory there.
func copyRows(dst, src []byte, n, rows, dstStride, srcStride, ahead int) {
	if n == 0 || rows == 0 {
		return
	}
	_, _ = dst[(rows-1)*dstStride+n-1], src[(rows-1)*srcStride+n-1]
	if n%32 == 0 && n <= longRow {
		copyRows32(dst, src, n, rows, dstStride, srcStride, ahead)
		return
	}
	for i := range rows {
		copy(dst[i*dstStride:i*dstStride+n], src[i*srcStride:i*srcStride+n])
	}
}
