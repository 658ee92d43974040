package codec

import (
	"bytes"
	"testing"
)

// TestInterleave interleaves planes of all lengths around the steps of the fast loops. Nothing after the values is
// written.
func TestInterleave(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 255} {
		for values := range 70 {
			src := noise(values*size + 1)[:values*size]
			want := make([]byte, len(src)+64)
			for i := range values {
				for plane := range size {
					want[i*size+plane] = src[plane*values+i]
				}
			}
			got := make([]byte, len(want))
			unshuffleBytes(got[:len(src)], src, size)
			if !bytes.Equal(got, want) {
				t.Errorf("%d values of %d bytes: got %x, expected %x", values, size, got, want)
			}
			clear(got)
			if done := interleaveWords(got[:len(src)], src, size); done > values ||
				!bytes.Equal(got[:done*size], want[:done*size]) {
				t.Errorf("%d values of %d bytes by words: %d are done, as %x, expected %x", values, size, done, got,
					want)
			}
		}
	}
}
