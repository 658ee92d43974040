package codec

import "fmt"

// UnshuffleBytes writes values of size bytes to dst. src has their bytes in planes: plane i has byte i of every value.
// Bytes after the last whole value are copied. dst and src have the same length, and must not overlap. This is the
// filter shuffle of HDF5.
func UnshuffleBytes(dst, src []byte, size int) {
	if size < 2 || len(src) < size {
		copy(dst, src)
		return
	}
	whole := len(src) / size * size
	unshuffleBytes(dst[:whole], src[:whole], size)
	copy(dst[whole:], src[whole:])
}

// UnshuffleBits writes values of size bytes to dst. src has their bits in planes: plane i has bit i of every value. The
// number of values must be a multiple of 8. src is overwritten: it becomes scratch memory. dst and src have the same
// length, and must not overlap. This is a block of the filter bitshuffle.
func UnshuffleBits(dst, src []byte, size int) {
	if size < 1 || len(dst) != len(src) || len(src)%(8*size) != 0 {
		panic(fmt.Sprintf("bits of %d bytes, to %d, in values of %d", len(src), len(dst), size))
	}
	values := len(src) / size
	for i := 0; i < len(src); i += values {
		unshuffleBits(dst[i:i+values], src[i:i+values])
	}
	if size > 1 {
		copy(src, dst)
		unshuffleBytes(dst, src, size)
	}
}
