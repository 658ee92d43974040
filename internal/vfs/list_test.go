package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// names returns the names and the lengths of the batches of a listing.
func names(t *testing.T, batches iter.Seq2[[]fs.DirEntry, error]) (all []string, lengths []int, err error) {
	t.Helper()
	for batch, err := range batches {
		var some []string
		for _, e := range batch {
			some = append(some, e.Name())
		}
		if !slices.IsSorted(some) {
			t.Errorf("a batch is not sorted")
		}
		if all, lengths = append(all, some...), append(lengths, len(some)); err != nil {
			return all, lengths, err
		}
	}
	return all, lengths, nil
}

// opens is a file system without ReadDir. Its directories return up to step entries at a time, and err after the last.
type opens struct {
	fsys fstest.MapFS
	step int
	err  error
}

func (o opens) Open(name string) (fs.File, error) {
	f, err := o.fsys.Open(name)
	if dir, ok := f.(fs.ReadDirFile); ok {
		return steps{dir, o}, err
	}
	return f, err
}

type steps struct {
	fs.ReadDirFile
	of opens
}

func (s steps) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := s.ReadDirFile.ReadDir(min(n, s.of.step))
	if err == io.EOF && s.of.err != nil {
		err = s.of.err
	}
	return entries, err
}

// partial is a file system whose listings end with an error.
type partial struct {
	fstest.MapFS
	err error
}

func (p partial) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, _ := p.MapFS.ReadDir(name)
	return entries, p.err
}

// TestList: all batches but the last are full, and an error comes with the last one, whichever way a file system lists.
func TestList(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, vfs.BatchSize - 1, vfs.BatchSize, vfs.BatchSize + 1, 3*vfs.BatchSize + 5} {
		files := fstest.MapFS{"dir": {Mode: fs.ModeDir | 0o755}}
		var want []string
		var lengths []int
		for i := range n {
			name := fmt.Sprintf("%07d", i)
			files["dir/"+name] = &fstest.MapFile{}
			want = append(want, name)
		}
		for rest := n; rest > 0; rest -= vfs.BatchSize {
			lengths = append(lengths, min(rest, vfs.BatchSize))
		}
		for _, c := range []struct {
			name string
			fsys fs.FS
			err  error
		}{
			{"at once", files, nil},
			{"at once, with an error", partial{files, broken}, broken},
			{"opened", opens{files, 1 << 30, nil}, nil},
			{"opened, some entries at a time", opens{files, 1000, nil}, nil},
			{"opened, with an error", opens{files, 1000, broken}, broken},
		} {
			got, gotLengths, err := names(t, vfs.List(c.fsys, "dir"))
			if !slices.Equal(got, want) || err != c.err {
				t.Errorf("%d entries, %s: got %d, %v", n, c.name, len(got), err)
			}
			if c.err == nil && !slices.Equal(gotLengths, lengths) {
				t.Errorf("%d entries, %s: batches of %v, want %v", n, c.name, gotLengths, lengths)
			}
		}
	}
	for what, fsys := range map[string]fs.FS{"at once": fstest.MapFS{"file": {}},
		"opened": opens{fstest.MapFS{"file": {}}, 1, nil}} {
		for _, dir := range []string{"nothing", "file"} {
			if got, _, err := names(t, vfs.List(fsys, dir)); err == nil || len(got) > 0 {
				t.Errorf("%s, %s: got %v, %v", what, dir, got, err)
			}
		}
	}
}

// TestDescribeBatches: Describe describes each wanted entry once, in batches that are not large.
func TestDescribeBatches(t *testing.T) {
	files := fstest.MapFS{}
	const n = vfs.BatchSize + 10
	for i := range n {
		files[fmt.Sprintf("dir/%07d", i)] = &fstest.MapFile{Data: make([]byte, i%7)}
	}
	seen := 0
	for batch, err := range vfs.Describe(files, "dir", func(name string) bool { return name != "0000005" }) {
		if err != nil || len(batch) == 0 || len(batch) > 1024 {
			t.Fatalf("a batch of %d, %v", len(batch), err)
		}
		for _, d := range batch {
			if d.Err != nil || d.Info.Name() != d.Name() {
				t.Fatalf("%s: %v, %v", d.Name(), d.Info, d.Err)
			}
			seen++
		}
	}
	if seen != n-1 {
		t.Errorf("%d entries, want %d", seen, n-1)
	}
	for batch, err := range vfs.Describe(files, "nothing", func(string) bool { return true }) {
		if len(batch) > 0 || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, %v", batch, err)
		}
	}
}
