package pyramid

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestStream writes blocks that are next to each other in a file, from and up to any place in a page.
func TestStream(t *testing.T) {
	const n = streamBytes
	for _, test := range []struct {
		name   string
		first  int   // offset
		ends   []int // of the calls of add
		err    error // of each write past the page cache
		slow   bool
		writes int // past the page cache
	}{
		{"nothing", 16, nil, nil, false, 0},
		{"one byte", 16, []int{17}, nil, false, 0},
		{"less than is worth it", 16, []int{minDirectBytes}, nil, false, 0},
		{"up to a page", 16, []int{100, 512 << 10}, nil, false, 1},
		{"one byte less", 16, []int{100, 512<<10 - 1}, nil, false, 1},
		{"one byte more", 16, []int{100, 512<<10 + 1}, nil, false, 1},
		{"up to a multiple", 16, []int{1000, n - 1, n}, nil, false, 1},
		{"beyond it", 16, []int{1000, n - 1, n + 5}, nil, false, 1},
		{"from a page", pageBytes, []int{n / 2, 2 * n}, nil, false, 2},
		{"from the end of a page", n - 1, []int{n + 100, 3*n + 7}, nil, false, 2},
		{"large blocks", 16, []int{2 * n, 5*n + 300<<10}, nil, false, 6},
		{"sectors that are too large", 16, []int{3 * n}, syscall.EINVAL, false, 1},
		{"bad disk", 16, []int{7 * n}, syscall.EIO, false, 1},
		{"slow disk", 16, []int{3 * n}, nil, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			if err != nil {
				t.Fatal(err)
			}
			direct := &fakeDirect{File: f, err: test.err}
			d := newDirectWriter(streamRuns)
			d.pace.slow.Store(test.slow)
			s := &stream{disk: d, file: &cubeFile{File: f, direct: direct}, end: int64(test.first)}
			want := randomFrom(test.first, append([]int{test.first}, test.ends...))
			at, failed := test.first, error(nil)
			for _, end := range test.ends {
				failed = errors.Join(failed, s.add(want[at:end]))
				at = end
			}
			s.close()
			d.end()
			if direct.writes != test.writes || !direct.closed {
				t.Errorf("%d writes past the page cache, want %d; closed: %v", direct.writes, test.writes,
					direct.closed)
			}
			if test.err != nil && test.err != syscall.EINVAL {
				if !errors.Is(d.err, test.err) || !errors.Is(failed, test.err) {
					t.Errorf("got %v and %v", d.err, failed)
				}
				return
			}
			if got, err := os.ReadFile(f.Name()); failed != nil || d.err != nil || err != nil ||
				len(test.ends) > 0 && !bytes.Equal(got, want) {
				t.Errorf("%v, %v, %v, or other bytes", failed, d.err, err)
			}
		})
	}
}

// randomFrom returns random bytes up to the last of the ends, and zeros before the first.
func randomFrom(first int, ends []int) []byte {
	all := make([]byte, ends[len(ends)-1])
	_, _ = rand.NewChaCha8([32]byte{1}).Read(all[min(first, len(all)):]) // it never fails
	return all
}

// TestStreamMemory: a stream gives its memory back, so that any number of them can follow each other.
func TestStreamMemory(t *testing.T) {
	d := newDirectWriter(streamRuns)
	defer d.end()
	for i := range 3 * streamRuns {
		f, err := os.Create(filepath.Join(t.TempDir(), fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		s := &stream{disk: d, file: &cubeFile{File: f}}
		if err := s.add(make([]byte, streamBytes+1)); err != nil {
			t.Fatal(err)
		}
		s.close()
	}
	if err := d.wait(); err != nil || len(d.free) != streamRuns {
		t.Errorf("%v, %d pieces of memory are free", err, len(d.free))
	}
}
