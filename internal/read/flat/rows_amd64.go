package flat

// copyRows32 is CopyRows for n of at least 32. There is at least one row.
//
//go:noescape
func copyRows32(dst, src []byte, n, rows, dstStride, srcStride, ahead int)

// gatherRows32 copies rows from each of the blocks to dst. In a block, the rows are n bytes each, one after the other,
// from byte src on. n is a multiple of 32. In dst, they are dstStride bytes apart, and those of the next block are n
// bytes further. It stops before a block that is shorter, and returns the number of blocks before that. dst must have
// room, and there must be a block and a row.
//
//go:noescape
func gatherRows32(dst []byte, blocks [][]byte, src, n, rows, dstStride int) (done int)
