package codec

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// named returns b as a member with all that a header may have.
func named(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Name, w.Comment, w.Extra = "chunk", "a comment", []byte("extra")
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestGunzip decodes members of all levels, alone and several, with all that headers have. Anything less or more is
// false.
func TestGunzip(t *testing.T) {
	for _, data := range [][]byte{nil, {7}, texture(300), noise(70_000), voxels(50_000), make([]byte, 40_000)} {
		for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
			one, other := gzipped(data, level), named(t, data)
			for _, c := range []struct {
				stored []byte
				times  int
			}{{one, 1}, {other, 1}, {slices.Concat(one, other), 2}, {slices.Concat(other, one, one), 3}} {
				want := bytes.Repeat(data, c.times)
				for _, room := range []int{len(want), len(want) + 9} {
					dst := make([]byte, room)
					if n, ok := Gunzip(dst, c.stored); !ok || !bytes.Equal(dst[:n], want) {
						t.Fatalf("level %d, %d bytes: %d, %v", level, len(want), n, ok)
					}
				}
				if _, ok := Gunzip(make([]byte, len(want)), append(slices.Clone(c.stored), 0)); ok {
					t.Error("a byte after the end is no fault")
				}
				if _, ok := Gunzip(make([]byte, max(len(want), 1)-1), c.stored); ok && len(want) > 0 {
					t.Error("more bytes than there is room for are no fault")
				}
			}
			if len(data) <= 300 {
				for n := range len(other) {
					if _, ok := Gunzip(make([]byte, len(data)), other[:n]); ok {
						t.Errorf("%d of %d bytes were decoded", n, len(other))
					}
				}
			}
		}
	}
}

// sameAsGzip fails if Gunzip decodes what the library does not, or other bytes.
func sameAsGzip(t *testing.T, stored []byte) {
	t.Helper()
	dst := make([]byte, 1<<16)
	n, ok := Gunzip(dst, stored)
	if !ok {
		return
	}
	r, err := gzip.NewReader(bytes.NewReader(stored))
	var want []byte
	if err == nil {
		want, err = io.ReadAll(r)
	}
	if err != nil || !bytes.Equal(dst[:n], want) {
		t.Errorf("%x: %d bytes; the library: %d, %v", stored, n, len(want), err)
	}
}

// TestGunzipDamaged changes bits of members. The checksum finds what is not in the header.
func TestGunzipDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, stored := range [][]byte{named(t, texture(600)), gzipped(noise(300), 6),
		slices.Concat(gzipped(skewed(500), 9), named(t, []byte{1}))} {
		for range 3000 {
			b := bytes.Clone(stored)
			for range 1 + r.IntN(3) {
				b[r.IntN(min(len(b), 1+r.IntN(len(b))))] ^= 1 << r.IntN(8)
			}
			sameAsGzip(t, b)
		}
	}
}

// FuzzGunzip compares what is decoded with what the library decodes.
func FuzzGunzip(f *testing.F) {
	f.Add(named(f, texture(200)))
	f.Add(slices.Concat(gzipped(skewed(500), 9), gzipped(noise(50), 1)))
	f.Fuzz(sameAsGzip)
}

// BenchmarkGunzip decodes a chunk of noise of six bits, as tissue has, and one of texture.
func BenchmarkGunzip(b *testing.B) {
	tissue := noise(256 << 10)
	for i := range tissue {
		tissue[i] = 96 + tissue[i]>>3&31 + tissue[i]&31
	}
	for name, data := range map[string][]byte{"tissue": tissue, "texture": texture(256 << 10)} {
		stored := gzipped(data, 6)
		b.Run(name, func(b *testing.B) { benchmark(b, Gzip{}, stored, len(data)) })
		b.Run(name+" by the library", func(b *testing.B) {
			dst := make([]byte, len(data))
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := (Gzip{}).open(stored, nil, func(d *gunzipper) error {
					_, err := d.readAll(Gzip{}, &d.r, dst, len(dst))
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
