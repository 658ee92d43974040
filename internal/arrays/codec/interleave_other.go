//go:build !amd64

package codec

// interleave interleaves the planes of src. It returns how many values are done.
func interleave(dst, src []byte, size int) int { return interleaveWords(dst, src, size) }
