//go:build !amd64

package downsample

import "unsafe"

// meanOfBytePairs is meanOfPairs for uint8.
func meanOfBytePairs(dst, src unsafe.Pointer, s span) { meanOfPairs[uint8](dst, src, s) }
