package hdf5

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkDecode decodes a chunk of 64³ values of 2 bytes.
func BenchmarkDecode(b *testing.B) {
	const n = 2 * 64 * 64 * 64
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 9*n/8)
	for i := range noise {
		noise[i] = byte(r.IntN(256))
	}
	var pieces []byte // LZF: literals and matches
	for decoded := 0; decoded < n; decoded += 16 {
		pieces = append(pieces, 7)
		pieces = append(pieces, noise[decoded:decoded+8]...)
		pieces = append(pieces, 6<<5, 7)
	}
	for _, c := range []struct {
		name   string
		filter Filter
		stored []byte
	}{
		{"shuffle", Filter{ID: filterShuffle, Client: []uint32{2}}, noise[:n]},
		{"scale-offset", Filter{ID: filterScaleOffset, Client: []uint32{2, 0, n / 2, 0, 2, 0, 0, 1, 0}}, scaled(11,
			100, noise[:11*n/16]...)},
		{"n-bit", Filter{ID: filterNBit, Client: []uint32{8, 0, n / 2, 1, 2, 0, 12, 0}}, noise[:12*n/16]},
		{"LZF", Filter{ID: filterLZF}, pieces},
		{"bitshuffle", Filter{ID: filterBitshuffle, Client: []uint32{0, 3, 2, 0, 0}}, noise[:n]},
	} {
		b.Run(c.name, func(b *testing.B) {
			dst := make([]byte, n)
			b.SetBytes(n)
			for b.Loop() {
				if err := decodeFilters([]Filter{c.filter}, n, dst, c.stored, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
