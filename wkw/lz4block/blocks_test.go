package lz4block

import (
	"math/rand/v2"

	"github.com/pierrec/lz4/v4"
)

// tissue returns n bytes that compress as images do: literals, and short and long matches at small and large offsets.
func tissue(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		for range r.IntN(1 + r.IntN(40)) {
			b = append(b, byte(r.Uint32()))
		}
		if len(b) == 0 {
			continue
		}
		offset := 1 + r.IntN(min(len(b), 1<<r.IntN(17)))
		for range 4 + r.IntN(1<<r.IntN(10)) {
			b = append(b, b[len(b)-offset])
		}
	}
	return b[:n]
}

// compressed returns b as a block of pierrec/lz4. If that cannot compress b, it returns a block of literals.
func compressed(b []byte, hard bool) []byte {
	dst := make([]byte, lz4.CompressBlockBound(len(b)))
	var n int
	var err error
	if hard {
		n, err = lz4.CompressBlockHC(b, dst, lz4.Level9, nil, nil)
	} else {
		n, err = lz4.CompressBlock(b, dst, nil)
	}
	if err != nil {
		panic(err)
	}
	if n == 0 {
		return appendSequence(nil, b, 0, 0)
	}
	return dst[:n]
}

// appendSequence appends a sequence. With match = 0 it has no match, as the last sequence of a block.
func appendSequence(src, literals []byte, offset, match int) []byte {
	rest := func(n int) {
		for n -= 15; n >= 255; n -= 255 {
			src = append(src, 255)
		}
		if n >= 0 {
			src = append(src, byte(n))
		}
	}
	src = append(src, byte(min(len(literals), 15)<<4|max(min(match-4, 15), 0)))
	rest(len(literals))
	src = append(src, literals...)
	if match > 0 {
		src = append(src, byte(offset), byte(offset>>8))
		rest(match - 4)
	}
	return src
}
