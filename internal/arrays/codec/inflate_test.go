package codec

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/flate"
)

// deflated returns the streams of b that encoders of all kinds write.
func deflated(t testing.TB, b []byte) (all [][]byte) {
	for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, level)
		if err == nil {
			_, err = w.Write(b[:len(b)/3])
		}
		if err == nil {
			err = w.Flush() // ends a block, which an empty one follows
		}
		if err == nil {
			_, err = w.Write(b[len(b)/3:])
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, out.Bytes())
	}
	return all
}

// skewed returns n bytes some of which have codes of 15 bits.
func skewed(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		for b[i] < 40 && r.IntN(2) == 0 {
			b[i]++
		}
	}
	return b
}

// TestInflate decodes streams of all levels, at the length that they have. Anything less is false.
func TestInflate(t *testing.T) {
	for _, data := range [][]byte{nil, {7}, texture(300), texture(100_000), noise(70_000), skewed(300_000),
		voxels(50_000),
		make([]byte, 40_000), bytes.Repeat([]byte("abc"), 1000), bytes.Repeat(noise(40_000), 2)} {
		for i, stored := range deflated(t, data) {
			dst := make([]byte, len(data)+5)
			for _, room := range []int{len(data), len(data) + 5} {
				clear(dst)
				n, used, ok := inflate(dst[:room], append(stored, 1, 2, 3))
				if !ok || used != len(stored) || !bytes.Equal(dst[:n], data) {
					t.Fatalf("level %d, %d bytes: %d bytes of %d stored ones of %d, %v", i-2, len(data), n, used,
						len(stored), ok)
				}
			}
			if n := len(data); !Inflate(dst[:n], stored) || !bytes.Equal(dst[:n], data) {
				t.Errorf("level %d, %d bytes: not decoded", i-2, n)
			}
			if Inflate(dst, stored) || Inflate(dst[:len(data)], append(stored, 0)) {
				t.Errorf("level %d, %d bytes: decoded, though bytes are left", i-2, len(data))
			}
			if _, _, ok := inflate(dst, stored[:len(stored)-1]); ok {
				t.Errorf("level %d, %d bytes: a stream without its last byte was decoded", i-2, len(data))
			}
			if len(data) > 0 {
				if _, _, ok := inflate(dst[:len(data)-1], stored); ok {
					t.Errorf("level %d, %d bytes: one more than there is room for was decoded", i-2, len(data))
				}
			}
		}
	}
}

// TestInflateDamaged changes bits of streams: what is decoded is what the library decodes.
func TestInflateDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, data := range [][]byte{texture(600), skewed(2000), noise(300)} {
		for _, stored := range deflated(t, data) {
			for range 100 {
				b := bytes.Clone(stored)
				for range 1 + r.IntN(3) {
					b[r.IntN(len(b))] ^= 1 << r.IntN(8)
				}
				sameAsLibrary(t, b)
			}
		}
	}
}

// sameAsLibrary fails if inflate decodes what the library does not, or other bytes. What has codes that are not
// complete may be refused by one of them.
func sameAsLibrary(t *testing.T, stored []byte) {
	t.Helper()
	dst := make([]byte, 1<<16)
	n, used, ok := inflate(dst, stored)
	if !ok {
		return
	}
	in := bytes.NewReader(stored)
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(in), int64(len(dst))+1))
	if err != nil || !bytes.Equal(dst[:n], want) || used != len(stored)-in.Len() {
		t.Errorf("%x: %d bytes of %d stored ones; the library: %d of %d, %v", stored, n, used, len(want),
			len(stored)-in.Len(), err)
	}
}

// FuzzInflate compares what is decoded with what the library decodes.
func FuzzInflate(f *testing.F) {
	for _, data := range [][]byte{texture(200), skewed(500), noise(50)} {
		for _, stored := range deflated(f, data) {
			f.Add(stored)
		}
	}
	f.Fuzz(sameAsLibrary)
}

// BenchmarkInflate decodes a chunk of noise of six bits, as tissue has, and one of texture.
func BenchmarkInflate(b *testing.B) {
	tissue := noise(256 << 10)
	for i := range tissue {
		tissue[i] = 96 + tissue[i]>>3&31 + tissue[i]&31
	}
	for name, data := range map[string][]byte{"tissue": tissue, "texture": texture(256 << 10)} {
		stored := zlibbed(data)
		b.Run(name, func(b *testing.B) { benchmark(b, Zlib{}, stored, len(data)) })
		b.Run(name+" by the library", func(b *testing.B) {
			dst := make([]byte, len(data))
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := (Zlib{}).open(stored, nil, func(d *inflater) error {
					_, err := d.readAll(Zlib{}, d.r, dst, len(dst))
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
