package codec

import (
	"encoding/binary"
	"math/bits"
)

const (
	xxhPrime1 = 2654435761
	xxhPrime2 = 2246822519
	xxhPrime3 = 3266489917
	xxhPrime4 = 668265263
	xxhPrime5 = 374761393
)

// xxh32 returns the checksum XXH32 (xxHash, doc/xxhash_spec.md).
func xxh32(b []byte, seed uint32) uint32 {
	length := uint32(len(b))
	h := seed + xxhPrime5
	if len(b) >= 16 {
		// Variables, because the sum of constants would overflow.
		prime1, prime2 := uint32(xxhPrime1), uint32(xxhPrime2)
		v0, v1, v2, v3 := seed+prime1+prime2, seed+prime2, seed, seed-prime1
		for ; len(b) >= 16; b = b[16:] {
			v0 = xxhRound(v0, b[0:4])
			v1 = xxhRound(v1, b[4:8])
			v2 = xxhRound(v2, b[8:12])
			v3 = xxhRound(v3, b[12:16])
		}
		h = bits.RotateLeft32(v0, 1) + bits.RotateLeft32(v1, 7) + bits.RotateLeft32(v2, 12) + bits.RotateLeft32(v3, 18)
	}
	h += length
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*xxhPrime3, 17) * xxhPrime4
	}
	for _, v := range b {
		h = bits.RotateLeft32(h+uint32(v)*xxhPrime5, 11) * xxhPrime1
	}
	h = (h ^ h>>15) * xxhPrime2
	h = (h ^ h>>13) * xxhPrime3
	return h ^ h>>16
}

func xxhRound(v uint32, b []byte) uint32 {
	return bits.RotateLeft32(v+binary.LittleEndian.Uint32(b)*xxhPrime2, 13) * xxhPrime1
}
