package codec

// interleave interleaves the planes of src. It returns how many values are done.
func interleave(dst, src []byte, size int) int {
	values := len(src) / size
	n := values &^ 15
	if n == 0 || len(dst) < len(src) {
		return 0
	}
	switch size {
	case 2:
		interleaveBy2(dst, src, values, n)
	case 4:
		interleaveBy4(dst, src, values, n)
	case 8:
		interleaveBy8(dst, src, values, n)
	default:
		return 0
	}
	return n
}

// interleaveBy2 interleaves the first n bytes of two planes, which have the given length. n is a multiple of 16 and at
// least 16. dst has room for all values.
//
//go:noescape
func interleaveBy2(dst, src []byte, length, n int)

// interleaveBy4 is interleaveBy2 for four planes.
//
//go:noescape
func interleaveBy4(dst, src []byte, length, n int)

// interleaveBy8 is interleaveBy2 for eight planes.
//
//go:noescape
func interleaveBy8(dst, src []byte, length, n int)
