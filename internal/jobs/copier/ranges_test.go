package copier

import (
	"io"
	"math"
	"os"
	"testing"

	"github.com/wkwfs/wkwfs/internal/small/span"
)

// TestAllRanges cuts files of all small lengths, and the longest ones, into ranges of all small lengths.
func TestAllRanges(t *testing.T) {
	for _, size := range []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, math.MaxInt64 - 1, math.MaxInt64} {
		for n := int64(1); n < 12; n++ {
			length := n
			if size > 100 {
				length = math.MaxInt64/5 + n
			}
			f := &file{info: fakeInfo{&fakeFile{size: size}}, rangeSize: length}
			f.ranges = span.New(0, size).Pieces(length)
			at := int64(0)
			for i := range f.ranges {
				r := f.rangeOf(i)
				if r.Start() != at || r.Empty() || r.Len() > length || r.Len() < length && i+1 < f.ranges {
					t.Errorf("%d bytes in ranges of %d: range %d is %v", size, length, i, r)
				}
				at = r.End()
			}
			if at != size || !f.rangeOf(f.ranges).Empty() {
				t.Errorf("%d bytes in %d ranges of %d: they end at %d", size, f.ranges, length, at)
			}
		}
	}
}

// TestAllMissingPages pushes all sets of pages of a small file, and looks for the rest of all parts of its ranges.
// Other bytes are refused.
func TestAllMissingPages(t *testing.T) {
	const page, rangeSize, size = 2, 4, 11
	content := []byte("ABCDEFGHIJK")
	for pages := range 1 << (size / page) {
		out, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		p := &pushed{out: out, rangeSize: rangeSize, page: page, size: size, written: map[int64]map[int64]bool{}}
		covered := make([]bool, size)
		for i, n := int64(0), int64(0); i < size/page; i += max(n/page, 1) {
			switch {
			case pages>>i&1 == 0:
				n = 0
				continue
			case pages>>i&3 == 3 && i%2 == 1: // two pages of two ranges at once
				n = 2 * page
			default:
				n = page
			}
			if !p.write(content[i*page:][:n], i*page) {
				t.Fatalf("%d bytes at %d are refused", n, i*page)
			}
			for j := range n {
				covered[i*page+j] = true
			}
		}
		for _, bad := range [][2]int64{{size - 1, 1}, {size - 1, 2}, {1, 2}, {0, 1}, {-2, 2}, {size + 1, 2}} {
			if p.write(make([]byte, bad[1]), bad[0]) {
				t.Errorf("%d bytes at %d are taken", bad[1], bad[0])
			}
		}
		for off := range int64(size) {
			for end := off; end <= min((off/rangeSize+1)*rangeSize, size); end++ {
				from, to := off, off
				for from < end && covered[from] {
					from++
				}
				for to = from; to < end && !covered[to]; {
					to++
				}
				if gotFrom, gotTo := p.nextMissing(off, end); gotFrom != from || gotTo != to {
					t.Errorf("pages %b, bytes %d to %d: missing %d to %d, expected %d to %d", pages, off, end, gotFrom,
						gotTo, from, to)
				}
			}
		}
		written, err := io.ReadAll(io.NewSectionReader(out, 0, 100))
		if err != nil || len(written) > size {
			t.Errorf("%d bytes, %v", len(written), err)
		}
		for i, b := range written {
			if covered[i] && b != content[i] {
				t.Errorf("pages %b: byte %d is wrong", pages, i)
			}
		}
		out.Close()
		p.forget(0)
		if from, to := p.nextMissing(0, rangeSize); from != 0 || to != rangeSize {
			t.Errorf("a range that is forgotten: missing %d to %d", from, to)
		}
	}
}
