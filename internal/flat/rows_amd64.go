package flat

// copyRows32 is copyRows where n is a multiple of 32, and neither n nor rows is 0.
//
//go:noescape
func copyRows32(dst, src []byte, n, rows, dstStride, srcStride, ahead int)
