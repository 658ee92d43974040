package precomputed

import "math/bits"

// murmur returns the low 64 bits of MurmurHash3_x86_128 with seed 0 for the 8 little-endian bytes of n (sharded.md,
// "Shard and minishard numbers"). 8 bytes are less than a block of 16, so only the tail is hashed, in the first two
// lanes.
func murmur(n uint64) uint64 {
	const (
		c1 = 0x239b961b
		c2 = 0xab0e9789
		c3 = 0x38b34ae5
	)
	h1 := bits.RotateLeft32(uint32(n)*c1, 15) * c2
	h2 := bits.RotateLeft32(uint32(n>>32)*c2, 16) * c3
	const length = 8
	h1 ^= length
	h2 ^= length
	h3, h4 := uint32(length), uint32(length)

	h1 += h2 + h3 + h4
	h2, h3, h4 = h2+h1, h3+h1, h4+h1
	h1, h2, h3, h4 = finish(h1), finish(h2), finish(h3), finish(h4)
	h1 += h2 + h3 + h4
	return uint64(h2+h1)<<32 | uint64(h1)
}

// finish is fmix32: each bit of the result depends on every bit of h.
func finish(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
