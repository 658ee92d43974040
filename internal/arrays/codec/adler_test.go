package codec

import (
	"bytes"
	"hash/adler32"
	"testing"
)

// TestAdler compares with the library: all short lengths, lengths around those of a batch, and the greatest sums.
func TestAdler(t *testing.T) {
	high := bytes.Repeat([]byte{0xff}, 100_000)
	random := noise(100_000)
	for n := range 5000 {
		for _, b := range [][]byte{high[:n], random[:n], random[n : 3*n], high[n:], random[n : 70_000+n]} {
			if len(b) > 2000 && n%97 != 0 {
				continue
			}
			if got, want := adler(b), adler32.Checksum(b); got != want {
				t.Fatalf("%d bytes: got %08x, want %08x", len(b), got, want)
			}
		}
	}
}

func BenchmarkAdler(b *testing.B) {
	data := noise(256 << 10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		adler(data)
	}
}
