package flat

// copyRows32 is copyRows for n that is a multiple of 32. n and rows are at least 1.
//
//go:noescape
func copyRows32(dst, src []byte, n, rows, dstStride, srcStride, ahead int)
