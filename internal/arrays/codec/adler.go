package codec

import "encoding/binary"

// adlerWords is how many words of 8 bytes adler adds up before its sums of 16 bits are full: 255 × 23 × 22 / 2 is less
// than 2^16.
const adlerWords = 23

// adler returns the checksum Adler-32 of b, as hash/adler32 does, in less than half of the time: it adds eight bytes at
// once.
func adler(b []byte) uint32 {
	const mod, lanes = 65521, 0x00ff00ff00ff00ff
	s1, s2 := uint64(1), uint64(0)
	for len(b) >= 8 {
		n := 8 * min(len(b)/8, adlerWords)
		var even, odd, evens, odds uint64 // sums of bytes, and of these sums before each word
		for words := b[:n]; len(words) >= 8; words = words[8:] {
			v := binary.LittleEndian.Uint64(words)
			evens += even
			odds += odd
			even += v & lanes
			odd += v >> 8 & lanes
		}
		s2 += uint64(n)*s1 + 8*(lane(evens, 1, 1, 1, 1)+lane(odds, 1, 1, 1, 1)) + lane(even, 8, 6, 4, 2) +
			lane(odd, 7, 5, 3, 1)
		s1 += lane(even, 1, 1, 1, 1) + lane(odd, 1, 1, 1, 1)
		s1, s2 = s1%mod, s2%mod
		b = b[n:]
	}
	for _, v := range b {
		s1 += uint64(v)
		s2 += s1
	}
	return uint32(s2%mod<<16 | s1%mod)
}

// lane adds up four sums of 16 bits with their weights.
func lane(v, a, b, c, d uint64) uint64 {
	const mask = 1<<16 - 1
	return v&mask*a + v>>16&mask*b + v>>32&mask*c + v>>48*d
}
