//go:build !amd64

package flat

import "encoding/binary"

// copyRows32 is CopyRows for rows of 32 bytes or more. It copies through four registers and prefetches nothing.
func copyRows32(dst, src []byte, n, rows, dstStride, srcStride, _ int) {
	le := binary.LittleEndian
	for i := range rows {
		to, from := dst[i*dstStride:i*dstStride+n], src[i*srcStride:i*srcStride+n]
		for ; len(from) >= 32 && len(to) >= 32; to, from = to[32:], from[32:] {
			a, b, c, d := le.Uint64(from), le.Uint64(from[8:]), le.Uint64(from[16:]), le.Uint64(from[24:])
			le.PutUint64(to, a)
			le.PutUint64(to[8:], b)
			le.PutUint64(to[16:], c)
			le.PutUint64(to[24:], d)
		}
		copy(to, from)
	}
}

// gatherRows32 leaves all blocks to CopyRows.
func gatherRows32(_ []byte, _ [][]byte, _, _, _, _ int) (done int) { return 0 }
