package codec

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// blosclzOf compresses b with BloscLZ, with the last match at each place that has the same four bytes.
func blosclzOf(b []byte) []byte {
	var out []byte
	last := map[[4]byte]int{}
	literals := 0
	for i := 0; i < len(b); {
		n, back := 0, 0
		if i+4 < len(b) {
			key := [4]byte(b[i:])
			if at, ok := last[key]; ok && i-at <= 65535+8192 {
				back = i - at
				for n = 4; i+n < len(b)-1 && b[i+n] == b[i+n-back]; n++ {
				}
			}
			last[key] = i
		}
		if n == 0 {
			literals, i = literals+1, i+1
			continue
		}
		out = appendLiterals(out, b[i-literals:i])
		out = appendMatch(out, n, back)
		literals, i = 0, i+n
	}
	return appendLiterals(out, b[len(b)-literals:])
}

func appendLiterals(out, b []byte) []byte {
	for len(b) > 0 {
		n := min(len(b), 32)
		out = append(append(out, byte(n-1)), b[:n]...)
		b = b[n:]
	}
	return out
}

// appendMatch appends a match of n bytes, from 3, that is back bytes back, from 1 to 73727.
func appendMatch(out []byte, n, back int) []byte {
	near := min(back-1, 8191)
	n -= 2
	out = append(out, byte(min(n, 7)<<5|near>>8))
	if n >= 7 {
		for n -= 7; n >= 255; n -= 255 {
			out = append(out, 255)
		}
		out = append(out, byte(n))
	}
	out = append(out, byte(near))
	if near == 8191 {
		far := back - 1 - 8191
		out = append(out, byte(far>>8), byte(far))
	}
	return out
}

// TestBlosclzLengths decodes all lengths and distances near those at which the format changes.
func TestBlosclzLengths(t *testing.T) {
	start := noise(80_000)
	head := appendLiterals(nil, start)
	for _, n := range []int{3, 4, 7, 8, 9, 10, 16, 17, 262, 263, 264, 265, 519, 1000} {
		for _, back := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 255, 256, 257, 8190, 8191, 8192, 8193, 8447, 8448,
			65535, 65536, 73726, 73727} {
			want := bytes.Clone(start)
			for range n {
				want = append(want, want[len(want)-back])
			}
			want = append(want, 'x')
			src := appendLiterals(appendMatch(bytes.Clone(head), n, back), []byte("x"))
			dst := make([]byte, len(want), len(want)+32)
			if err := blosclz(dst, src); err != nil || !bytes.Equal(dst, want) {
				t.Errorf("a match of %d bytes, %d back: %v", n, back, err)
			}
			for i, v := range dst[len(dst):cap(dst)] {
				if v != 0 {
					t.Errorf("a match of %d bytes, %d back, writes %d bytes too many", n, back, i+1)
				}
			}
		}
	}
}

func TestBlosclzErrors(t *testing.T) {
	for _, c := range []struct {
		src  string
		n    int
		want string
	}{
		{"", 1, "blosclz data at byte 0: their end after 0 of 1 decoded bytes"},
		{"\x02abc", 4, "blosclz data at byte 4: their end after 3 of 4 decoded bytes"},
		{"\x02abc", 2, "blosclz data at byte 0: 3 literals, of which 3 are stored, with room for 2"},
		{"\x03abc", 4, "blosclz data at byte 0: 4 literals, of which 3 are stored, with room for 4"},
		{"\xe2abc", 3, ""}, // the upper bits of the first byte have no meaning
		{"\x02abc\x20\x02\x00d", 7, ""},
		{"\x02abc\x20\x02\x00d", 6, "blosclz data at byte 6: 1 literals, of which 1 are stored, with room for 0"},
		{"\x02abc\x20\x02\x00d", 5, "blosclz data at byte 4: a match of 3 bytes, 3 back, after 3, with room for 2"},
		{"\x02abc\x20\x03\x00d", 7, "blosclz data at byte 4: a match of 3 bytes, 4 back, after 3, with room for 4"},
		{"\x02abc\x20\x02", 6, "blosclz data at byte 4: an incomplete match"}, // the last one must be literals
		{"\x02abc\xe0\xff", 300, "blosclz data at byte 4: an incomplete match"},
		{"\x02abc\x3f\xff\x00", 300, "blosclz data at byte 4: an incomplete match"},
	} {
		text := ""
		if err := blosclz(make([]byte, c.n), []byte(c.src)); err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%q as %d bytes: expected error %q, found %q", c.src, c.n, c.want, text)
		}
	}
}

// TestBlosclzRoundTrip decodes what a simple encoder wrote, whole, truncated and damaged.
func TestBlosclzRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, b := range [][]byte{voxels(1), voxels(2), voxels(33), voxels(9000), make([]byte, 10_000), noise(3000)} {
		src := blosclzOf(b)
		dst := make([]byte, len(b))
		if err := blosclz(dst, src); err != nil || !bytes.Equal(dst, b) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
		for i := range src {
			if err := blosclz(dst, src[:i]); err == nil {
				t.Errorf("%d bytes: the first %d of %d decode", len(b), i, len(src))
			}
			damaged := bytes.Clone(src)
			damaged[i] ^= byte(1 + r.IntN(255))
			_ = blosclz(dst, damaged) // must not panic
		}
	}
}
