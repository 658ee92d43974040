package wkw

import (
	"testing"

	"github.com/wkwfs/wkwfs/volume"
)

func TestMorton(t *testing.T) {
	for _, c := range []struct {
		b volume.Vec
		n uint64
	}{
		{volume.Vec{0, 0, 0}, 0},
		{volume.Vec{1, 0, 0}, 1},
		{volume.Vec{0, 1, 0}, 2},
		{volume.Vec{0, 0, 1}, 4},
		{volume.Vec{3, 1, 0}, 0b001_011},
		{volume.Vec{5, 6, 3}, 0b011_110_101},
		{volume.Vec{31, 31, 31}, 1<<15 - 1},
		{volume.Vec{1 << 14, 0, 0}, 1 << 42},
		{volume.Vec{0, 0, 1 << 14}, 1 << 44},
		{volume.Cube(1<<15 - 1), 1<<45 - 1},
		{volume.Cube(1<<21 - 1), 1<<63 - 1},
	} {
		if n := MortonIndex(c.b); n != c.n {
			t.Errorf("MortonIndex(%v) = %#b, expected %#b", c.b, n, c.n)
		}
		if b := MortonBlock(c.n); b != c.b {
			t.Errorf("MortonBlock(%#b) = %v, expected %v", c.n, b, c.b)
		}
	}
}

// TestMortonBits compares with the definition, bit by bit.
func TestMortonBits(t *testing.T) {
	for seed := uint64(1); seed < 2000; seed++ {
		n := seed * 0x9E37_79B9_7F4A_7C15 >> 19 // 45 bits
		var b volume.Vec
		for bit := range 45 {
			b[bit%3] |= int(n>>bit&1) << (bit / 3)
		}
		if got := MortonIndex(b); got != n {
			t.Fatalf("MortonIndex(%v) = %d, expected %d", b, got, n)
		}
		if got := MortonBlock(n); got != b {
			t.Fatalf("MortonBlock(%d) = %v, expected %v", n, got, b)
		}
	}
}
