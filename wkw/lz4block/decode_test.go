package lz4block

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestCompressed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := newHarness(t, 1<<17)
	for i := range 400 {
		n := r.IntN(1 << r.IntN(17))
		voxels := tissue(r, n)
		switch i % 8 {
		case 6:
			clear(voxels)
		case 7:
			for i := range voxels {
				voxels[i] = byte(r.Uint32())
			}
		}
		src := compressed(voxels, i%2 == 0)
		b.check(t, src, n)
		b.check(t, src, n+1)
		b.check(t, src, max(n-1, 0))
	}
}

// TestLengths decodes all lengths and offsets near those at which a decoder changes its method, in the middle of a
// block and close to its end.
func TestLengths(t *testing.T) {
	b := newHarness(t, 1<<17)
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []byte {
		p := make([]byte, n)
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		return p
	}
	start := random(600)
	for _, literals := range []int{0, 1, 13, 14, 15, 16, 17, 31, 32, 33, 47, 269, 270, 271, 525} {
		for _, offset := range []int{0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 600, 1200, 65535} {
			for _, match := range []int{4, 5, 15, 16, 17, 18, 19, 20, 31, 32, 33, 48, 49, 64, 273, 274, 275, 529} {
				src := appendSequence(nil, start, 3, 4)
				src = appendSequence(src, random(literals), offset, match)
				n := len(start) + 4 + literals + match
				b.check(t, src, n) // ends with a match
				end := r.IntN(80)
				b.check(t, appendSequence(src, random(end), 0, 0), n+end)
				src = appendSequence(src, nil, 2, 7)
				b.check(t, appendSequence(src, random(200), 0, 0), n+207)
				// has no room for the sequence
				b.check(t, appendSequence(src, random(200), 0, 0), n-r.IntN(literals+match+1))
				// ends with another match
				b.check(t, src, n+7)
			}
		}
	}
}

// TestTruncated truncates blocks, or their decoded length, at every byte.
func TestTruncated(t *testing.T) {
	b := newHarness(t, 1<<12)
	r := rand.New(rand.NewPCG(15, 16))
	for range 40 {
		src := appendSequence(nil, make([]byte, 20), 20, 4)
		n := 24
		for n < 400 {
			literals, match := r.IntN(15), 4+r.IntN(15)
			switch r.IntN(8) {
			case 0:
				literals += r.IntN(60)
			case 1:
				match += r.IntN(60)
			}
			n += literals
			src = appendSequence(src, make([]byte, literals), 1+r.IntN(n), match)
			n += match
		}
		for i := range src {
			b.check(t, src[:i], n+100)
		}
		for i := range n {
			b.check(t, append(src, make([]byte, 100)...), i)
		}
	}
}

// TestDamaged truncates blocks at every byte, and changes every byte.
func TestDamaged(t *testing.T) {
	b := newHarness(t, 1<<12)
	r := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		n := 400 + r.IntN(200)
		src := compressed(tissue(r, n), false)
		for i := range src {
			b.check(t, src[:i], n)
			damaged := bytes.Clone(src)
			for range 6 {
				damaged[i] ^= byte(1 + r.IntN(255))
				b.check(t, damaged, n)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ten := []byte("0123456789")
	long := bytes.Repeat(ten, 100)
	for _, c := range []struct {
		src  []byte
		n    int
		want string
	}{
		{nil, 10, "0, then no last literals at compressed byte 0"},
		{nil, 0, "0, then no last literals at compressed byte 0"},
		{append([]byte{0x96}, ten[:9]...), 9, "9, then a match without its offset at compressed byte 10"},
		{appendSequence(nil, ten, 1, 20), 30, "30, then no last literals at compressed byte 14"},
		{appendSequence(nil, ten[:7], 0, 0), 10, "7"},
		{appendSequence(nil, long, 0, 0), 1001, "1000"},
		{[]byte{0xa0, '0', '1'}, 10, "0, then 10 literals, of which 2 are stored at compressed byte 0"},
		{appendSequence(nil, ten, 0, 0), 9, "0, then 10 literals with room for 9 at compressed byte 0"},
		{appendSequence(appendSequence(nil, ten, 11, 4), nil, 0, 0), 14,
			"10, then a match 11 bytes back at compressed byte 11"},
		{appendSequence(appendSequence(nil, ten, 0, 4), nil, 0, 0), 14,
			"10, then a match 0 bytes back at compressed byte 11"},
		{appendSequence(appendSequence(nil, ten, 1, 20), nil, 0, 0), 29,
			"10, then a match of 20 bytes with room for 19 at compressed byte 11"},
		{append(appendSequence(nil, ten, 0, 0), 1), 14, "10, then an incomplete offset at compressed byte 11"},
		{[]byte{0xf0, 255, 255}, 10, "0, then literals with an incomplete length at compressed byte 0"},
		{[]byte{0x1f, 'x', 1, 0, 255}, 10, "1, then a match with an incomplete length at compressed byte 2"},
		{appendSequence(appendSequence(nil, long, 1001, 18), long, 0, 0), 2018,
			"1000, then a match 1001 bytes back at compressed byte 1005"},
	} {
		withEachDecoder(func(decoder string) {
			if err := Decode(make([]byte, c.n), c.src); err == nil || err.Error() != c.want {
				t.Errorf("% x as %d bytes in %s: expected %q, found %v", clip(c.src), c.n, decoder, c.want, err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 5, 100, 300, 1000} {
		f.Add(compressed(tissue(r, n), true), uint16(n))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16) {
		newHarness(t, max(len(src), int(n), len(other), 1)).check(t, src, int(n))
	})
}
