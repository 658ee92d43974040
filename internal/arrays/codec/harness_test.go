package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/volume"
)

// sample is bytes and their stored form.
type sample struct {
	name    string
	codec   Codec
	decoded []byte
	stored  []byte

	unverified bool // has no checksum
	pieces     bool // its start may be whole, too
}

// samples returns stored forms of all codecs that other libraries wrote, or that are put together by hand.
var samples = sync.OnceValue(func() []sample {
	var all []sample
	for _, of := range []func() []sample{gzipSamples, zlibSamples, zstdSamples, checksumSamples, chainSamples,
		bloscSamples, lz4Samples, lz4JavaSamples,
		bzip2Samples, xzSamples, lzmaSamples} {
		all = append(all, of()...)
	}
	return all
})

// unpooled reports whether the library of the codec cannot use its memory again.
func (s sample) unpooled() bool {
	return slices.Contains([]string{"bzip2", "xz", "lzma"}, s.codec.String())
}

// step returns at which bytes of the sample a test should look, so that it decodes about n bytes.
func (s sample) step(n int) int {
	if voxeltest.Race {
		n /= 16
	}
	return 1 + len(s.stored)*(1000+len(s.decoded))/n
}

// TestSamples decodes each sample into memory that is just large enough, too small, and larger than the limit.
func TestSamples(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			n := len(s.decoded)
			if len(s.stored) > s.codec.Bound(n) {
				t.Errorf("%d stored bytes for %d: more than the bound of %d", len(s.stored), n, s.codec.Bound(n))
			}
			s.expect(t, make([]byte, n), n)
			s.expect(t, nil, n)
			s.expect(t, make([]byte, n/2), n+1000)
			s.expect(t, make([]byte, 7, n+1000), n)
			s.expect(t, make([]byte, n+1000), n+500)
			if err := DecodeInto(s.codec, make([]byte, n), s.stored); err != nil {
				t.Error(err)
			}
		})
	}
}

// expect decodes the sample with the limit, and checks the result.
func (s sample) expect(t *testing.T, dst []byte, limit int) {
	t.Helper()
	b, err := decode(t, s.codec, dst, s.stored, limit)
	if err != nil {
		t.Errorf("limit %d, room for %d: %v", limit, cap(dst), err)
	} else if !bytes.Equal(b, s.decoded) {
		t.Errorf("limit %d, room for %d: other bytes than expected", limit, cap(dst))
	}
}

// TestLimit decodes with a limit that is one byte too small, and into memory of other lengths.
func TestLimit(t *testing.T) {
	for _, s := range samples() {
		n := len(s.decoded)
		for _, limit := range []int{0, n / 2, n - 1} {
			if limit < 0 || limit == n {
				continue
			}
			if b, err := decode(t, s.codec, make([]byte, limit), s.stored, limit); err == nil {
				t.Errorf("%s: %d bytes with a limit of %d", s.name, len(b), limit)
			}
		}
		if err := DecodeInto(s.codec, make([]byte, n+1), s.stored); err == nil {
			t.Errorf("%s: %d bytes decode into %d", s.name, n, n+1)
		}
	}
}

// TestTruncated truncates every sample at every byte, or at some if it is long.
func TestTruncated(t *testing.T) {
	for _, s := range samples() {
		dst := make([]byte, len(s.decoded))
		for i := 0; i < len(s.stored); i += s.step(1 << 21) {
			b, err := decode(t, s.codec, dst, s.stored[:i:i], len(dst))
			if err == nil && bytes.Equal(b, s.decoded) && len(b) > 0 {
				t.Errorf("%s: the first %d of %d bytes decode to everything", s.name, i, len(s.stored))
			}
			if err == nil && !s.pieces {
				t.Errorf("%s: the first %d of %d bytes decode to %d bytes", s.name, i, len(s.stored), len(b))
			}
		}
	}
}

// TestLeftOver appends a byte to every sample.
func TestLeftOver(t *testing.T) {
	for _, s := range samples() {
		if b, err := decode(t, s.codec, make([]byte, len(s.decoded)), append(bytes.Clone(s.stored), 0),
			len(s.decoded)); err == nil {
			t.Errorf("%s: with a byte more, it decodes to %d bytes", s.name, len(b))
		}
	}
}

// TestDamaged changes bytes of every sample, or some if it is long. Samples with a checksum must not decode to other
// bytes.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range samples() {
		dst := make([]byte, len(s.decoded)+100)
		for i := 0; i < len(s.stored); i += s.step(1 << 19) {
			damaged := bytes.Clone(s.stored)
			damaged[i] ^= byte(1 + r.IntN(255))
			b, err := decode(t, s.codec, dst, damaged, len(dst))
			if err == nil && !s.unverified && !bytes.Equal(b, s.decoded) {
				t.Errorf("%s: a change of byte %d is not seen", s.name, i)
			}
		}
	}
}

// TestConcurrent decodes all samples in several goroutines, which share the pools.
func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, s := range samples() {
				if len(s.decoded) > 10_000 {
					continue
				}
				dst := make([]byte, len(s.decoded))
				if err := DecodeInto(s.codec, dst, s.stored); err != nil || !bytes.Equal(dst, s.decoded) {
					t.Errorf("%s: other bytes than expected, error %v", s.name, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestNoAllocations checks that the memory of decoders is used again.
func TestNoAllocations(t *testing.T) {
	if voxeltest.Race {
		t.Skip("the race detector makes sync.Pool forget memory at random")
	}
	for _, s := range samples() {
		dst := make([]byte, len(s.decoded))
		if s.unpooled() {
			continue
		}
		n := testing.AllocsPerRun(50, func() {
			if _, err := s.codec.Decode(dst, s.stored, len(dst)); err != nil {
				t.Fatal(err)
			}
		})
		if n >= 1 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}

// decode decodes src, and checks what holds for every input: no byte past the limit is written, the result is not
// longer and lies in dst if that has room, src is unchanged, memory is in proportion, and an error has one of the two
// types.
func decode(t testing.TB, c Codec, dst, src []byte, limit int) ([]byte, error) {
	t.Helper()
	const canary = 0xa5
	full := make([]byte, cap(dst)+64)
	for i := range full {
		full[i] = canary
	}
	before := bytes.Clone(src)
	dst = full[:min(len(dst), cap(dst)):cap(dst)]

	b, err := c.Decode(dst, src, limit)

	for i, v := range full[min(limit, cap(dst)):] {
		if v != canary {
			t.Fatalf("%v wrote byte %d past the limit of %d", c, i, limit)
		}
	}
	if !bytes.Equal(src, before) {
		t.Fatalf("%v changed what it decodes", c)
	}
	if err != nil {
		return nil, typed(t, c, err)
	}
	if len(b) > limit || cap(b) > max(limit, cap(dst)) {
		t.Fatalf("%v returned %d bytes, room for %d, with a limit of %d", c, len(b), cap(b), limit)
	}
	if len(b) > 0 && cap(dst) >= limit && &b[0] != &full[0] {
		t.Fatalf("%v did not decode into the memory of the caller", c)
	}
	return b, nil
}

// typed returns err. It checks its type, and that it has a text.
func typed(t testing.TB, c Codec, err error) error {
	t.Helper()
	var format *volume.FormatError
	var unsupported *volume.UnsupportedError
	if !errors.As(err, &format) && !errors.As(err, &unsupported) || err.Error() == "" {
		t.Fatalf("%v: error of type %T: %v", c, err, err)
	}
	return err
}

// taken returns the bytes that f allocates.
func taken(f func()) int {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	before := allocated[0].Value.Uint64()
	f()
	metrics.Read(allocated)
	return int(allocated[0].Value.Uint64() - before)
}

// voxels returns n bytes like those of an image: words of 16 bits that change slowly, with noise.
func voxels(n int) []byte {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		if i%2 == 0 {
			b[i] = byte(i/40) + byte(r.IntN(8))
		} else {
			b[i] = byte(i / 1000)
		}
	}
	return b
}

// noise returns n random bytes.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(4, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// contents are bytes of several lengths and kinds, by name.
func contents() map[string][]byte {
	all := map[string][]byte{"zeros": make([]byte, 70_000), "noise": noise(9000)}
	for _, n := range []int{0, 1, 2, 7, 8, 9, 100, 32768, 140_001} {
		all[fmt.Sprint(n)] = voxels(n)
	}
	return all
}
