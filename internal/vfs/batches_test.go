package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
)

// stepFS is a file system without ReadDir. Its directories return up to step entries at a time, from the last to the
// first, and fail with err after all of them.
type stepFS struct {
	files fstest.MapFS
	step  int
	err   error
}

func (s stepFS) Open(name string) (fs.File, error) {
	entries, err := s.files.ReadDir(name)
	return &stepDir{of: s, rest: entries}, err
}

type stepDir struct {
	fs.File
	of   stepFS
	rest []fs.DirEntry
}

func (*stepDir) Close() error { return nil }

func (d *stepDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if len(d.rest) == 0 {
		return nil, d.of.err
	}
	n = len(d.rest) - min(n, d.of.step, len(d.rest))
	entries := d.rest[n:]
	d.rest = d.rest[:n]
	return entries, nil
}

// failingFS is a file system whose listings have all entries, and an error.
type failingFS struct {
	fstest.MapFS
	err error
}

func (f failingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, _ := f.MapFS.ReadDir(name)
	return entries, f.err
}

// TestAllBatches lists and describes small directories in batches of all sizes. All but the last are full, each is
// sorted, none is empty but one with an error, and together they have each entry once.
func TestAllBatches(t *testing.T) {
	broken := errors.New("broken")
	for n := range 8 {
		files := fstest.MapFS{"dir": {Mode: fs.ModeDir | 0o755}}
		for i := range n {
			files[fmt.Sprint("dir/", i)] = &fstest.MapFile{}
		}
		for size := 1; size <= 4; size++ {
			for step := range 5 {
				for _, want := range []error{nil, broken} {
					fsys := fs.FS(failingFS{files, want})
					if step > 0 {
						end := want
						if end == nil {
							end = io.EOF
						}
						fsys = stepFS{files, step, end}
					}
					what := fmt.Sprintf("%d entries, %d at a time, in batches of %d, then %v", n, step, size, want)
					seen := checkBatches(t, what, fsys, size, want)
					if len(seen) != n {
						t.Errorf("%s: got %v", what, seen)
					}
					described := 0
					for batch, err := range describeBatches(list(fsys, "dir", 3), size,
						func(name string) bool { return name != "1" }, func([]Described) {}) {
						if len(batch) > size || err != want && err != nil || (err == nil) != (len(batch) > 0) {
							t.Errorf("%s: described %v, %v", what, batch, err)
						}
						described += len(batch)
					}
					if wanted := max(n-1, min(n, 1)); described != wanted {
						t.Errorf("%s: %d entries are described, expected %d", what, described, wanted)
					}
				}
			}
		}
	}
}

// checkBatches returns how often each name is listed. It is an error if that is not once.
func checkBatches(t *testing.T, what string, fsys fs.FS, size int, want error) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	var last error
	ended := false
	for batch, err := range list(fsys, "dir", size) {
		if ended || len(batch) > size || len(batch) == 0 && err == nil {
			t.Errorf("%s: %d entries, %v, the batch before was the last one: %v", what, len(batch), err, ended)
		}
		for i, e := range batch {
			if seen[e.Name()] || i > 0 && batch[i-1].Name() >= e.Name() {
				t.Errorf("%s: %s is not in its place", what, e.Name())
			}
			seen[e.Name()] = true
		}
		ended, last = len(batch) < size || err != nil, err
	}
	if last != want {
		t.Errorf("%s: got %v", what, last)
	}
	return seen
}
