package downsample

import "unsafe"

// meanOfBytePairs is meanOfPairs for uint8, 16 cells at a time.
func meanOfBytePairs(dst, src unsafe.Pointer, s span) {
	n := s.cells &^ 15
	switch {
	case n == 0:
	case s.axes < 3:
		meanOfBytePairs4(dst, src, s.near[1], n)
	default:
		meanOfBytePairs8(dst, src, s.near[1], s.near[2], n)
	}
	if n < s.cells {
		meanOfPairs[uint8](s.rest(dst, src, n))
	}
}

// meanOfBytePairs4 reduces cells of 4 values. y is the distance of the second row of values. n is a multiple of 16 and
// at least 16.
//
//go:noescape
func meanOfBytePairs4(dst, src unsafe.Pointer, y, n int)

// meanOfBytePairs8 reduces cells of 8 values. y and z are the distances of rows, as in span.near. n is a multiple of 16
// and at least 16.
//
//go:noescape
func meanOfBytePairs8(dst, src unsafe.Pointer, y, z, n int)
