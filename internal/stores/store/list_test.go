package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestList: List and Describe find what ReadDir finds, in a directory of several batches, too. A listing that is
// stopped closes the directory.
func TestList(t *testing.T) {
	path := t.TempDir()
	const n = vfs.BatchSize + 1000
	if err := os.Mkdir(filepath.Join(path, "dir"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := os.Symlink("nothing", filepath.Join(path, fmt.Sprintf("dir/x%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	scheduled := Schedule(d, Options{Depth: 1})
	want, err := d.ReadDir("dir")
	if err != nil || len(want) != n {
		t.Fatalf("%d entries, %v", len(want), err)
	}
	descriptors := openDescriptors(t)
	for _, fsys := range []interface {
		vfs.ListFS
		vfs.DescribeFS
	}{d, scheduled} {
		var listed, described []string
		for batch, err := range fsys.List("dir") {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range batch {
				listed = append(listed, e.Name())
			}
		}
		for batch, err := range fsys.Describe("dir", func(string) bool { return true }) {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range batch {
				described = append(described, e.Name())
			}
		}
		slices.Sort(listed)
		slices.Sort(described)
		same := func(names []string) bool {
			return slices.EqualFunc(want, names, func(e fs.DirEntry, name string) bool { return e.Name() == name })
		}
		if !same(listed) || !same(described) {
			t.Errorf("%T: listed %d, described %d, want %d", fsys, len(listed), len(described), n)
		}
		for range fsys.List("dir") {
			break
		}
		for range fsys.Describe("dir", func(string) bool { return true }) {
			break
		}
	}
	if now := openDescriptors(t); now != descriptors {
		t.Errorf("%d descriptors are open, before %d", now, descriptors)
	}
	if count := scheduled.Stats().Lookups.Count; count > 5*n {
		t.Errorf("%d lookups", count)
	}
	checkIdle(t, scheduled)
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
