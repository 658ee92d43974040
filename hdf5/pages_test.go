package hdf5

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// countingReader counts requests.
type countingReader struct {
	io.ReaderAt
	n atomic.Int32
}

func (r *countingReader) ReadAt(b []byte, off int64) (int, error) {
	r.n.Add(1)
	return r.ReaderAt.ReadAt(b, off)
}

// countedPages returns pages of size random bytes.
func countedPages(size int) ([]byte, *countingReader, *pages) {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	counting := &countingReader{ReaderAt: bytes.NewReader(b)}
	return b, counting, newPages(counting, int64(size))
}

// TestPages reads ranges of all sizes around the edges of pages.
func TestPages(t *testing.T) {
	b, counting, p := countedPages(5*pageBytes + 100)
	for _, off := range []int{0, 1, pageBytes - 1, pageBytes, pageBytes + 1, 3*pageBytes - 7, 5 * pageBytes,
		5*pageBytes + 99} {
		for _, n := range []int{0, 1, 2, 100, pageBytes - 1, pageBytes, pageBytes + 1, 2*pageBytes + 1} {
			n = min(n, len(b)-off)
			got, err := p.read(int64(off), n)
			if err != nil || !bytes.Equal(got, b[off:off+n]) {
				t.Errorf("%d bytes at %d: other bytes, error %v", n, off, err)
			}
		}
	}
	if n := counting.n.Load(); n > 6 {
		t.Errorf("%d requests for 6 pages", n)
	}
	if got, err := newPages(counting, int64(len(b))).read(3, 4*pageBytes); err != nil || !bytes.Equal(got,
		b[3:3+4*pageBytes]) {
		t.Errorf("other bytes, error %v", err)
	}
}

// TestTogether reads structures that lie close together, and far apart.
func TestTogether(t *testing.T) {
	b, counting, p := countedPages(8 << 20)
	for _, c := range []struct{ step, n, requests int }{{1000, 900, 1}, {100, 900, 1}, {smallGap + 900, 900, 1},
		{smallGap + 901, 900, 20},
		{300_000, 900, 20}, {0, 900, 1}, {200_000, 190_000, 4}, {400_000, 500_000, 10}} {
		counting.n.Store(0)
		var offsets []int64
		for i := range 20 {
			offsets = append(offsets, int64(7+i*c.step))
		}
		all, err := p.together(offsets, c.n)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range all {
			if off := int(offsets[i]); !slices.Equal(got, b[off:min(off+c.n, len(b))]) {
				t.Errorf("every %d bytes: other bytes at %d", c.step, off)
			}
		}
		if n := int(counting.n.Load()); n != c.requests {
			t.Errorf("every %d bytes: %d requests, expected %d", c.step, n, c.requests)
		}
	}
}

// TestFewRequests checks that a small file is read in one request for its metadata.
func TestFewRequests(t *testing.T) {
	b := small(t, "latest.h5")
	counting := &countingReader{ReaderAt: bytes.NewReader(b)}
	f, err := Open(counting, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"fixed", "extensible", "tree", "single", "many/link3"} {
		o, err := f.Lookup(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.(*Dataset).Chunks(); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Attributes(); err != nil {
			t.Fatal(err)
		}
	}
	if n := counting.n.Load(); n != 1 {
		t.Errorf("%d requests, expected 1", n)
	}
}
