package codec

import "testing"

// TestXXH32 computes the checksums that the sanity check of xxHash has, of the first bytes that its generator makes.
func TestXXH32(t *testing.T) {
	b := make([]byte, 222)
	v := uint64(xxhPrime1)
	for i := range b {
		b[i] = byte(v >> 56)
		v *= 11400714785074694797
	}
	for _, c := range []struct {
		n          int
		seed, want uint32
	}{
		{0, 0, 0x02cc5d05},
		{0, xxhPrime1, 0x36b78ae7},
		{1, 0, 0xcf65b03e},
		{1, xxhPrime1, 0xb4545aa4},
		{14, 0, 0x1208e7e2},
		{14, xxhPrime1, 0x6af1d1fe},
		{222, 0, 0x5bd11dbd},
		{222, xxhPrime1, 0x58803c5f},
	} {
		if found := xxh32(b[:c.n], c.seed); found != c.want {
			t.Errorf("%d bytes, seed %d: expected %08x, found %08x", c.n, c.seed, c.want, found)
		}
	}
}
