package flat

// longRow is the longest row for which copyRows32 is faster than memmove, in bytes.
const longRow = 512

// CopyRows copies rows of n bytes. They are dstStride bytes apart in dst and srcStride bytes apart in src. This is the
// innermost loop of every read. A row of a block is short, most often 32 bytes: a call of memmove for each would take
// as long as the copy. The last 32 bytes of a row may overlap those before. On some processors CopyRows also prefetches
// the rows that lie ahead bytes further in memory. That address may be invalid.
func CopyRows(dst, src []byte, n, rows, dstStride, srcStride, ahead int) {
	if n == 0 || rows == 0 {
		return
	}
	_, _ = dst[(rows-1)*dstStride+n-1], src[(rows-1)*srcStride+n-1]
	if n >= 32 && n <= longRow {
		copyRows32(dst, src, n, rows, dstStride, srcStride, ahead)
		return
	}
	for i := range rows {
		copy(dst[i*dstStride:i*dstStride+n], src[i*srcStride:i*srcStride+n])
	}
}
