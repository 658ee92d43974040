package integration

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestChangesShowAtTheNextOpen changes cubes below a mount in all common ways. The next open sees the new
// content at once. A file that is open keeps the old content or fails, page cache included.
func TestChangesShowAtTheNextOpen(t *testing.T) {
	older, newer := small, small
	newer.seed = 12345
	for _, c := range []struct {
		way    string
		change func(t *testing.T, cube string)
	}{
		{"replaced by rename", func(t *testing.T, cube string) {
			writeFile(t, cube+".tmp", newer.file(t))
			if err := os.Rename(cube+".tmp", cube); err != nil {
				t.Fatal(err)
			}
		}},
		{"removed and created again", func(t *testing.T, cube string) {
			if err := os.Remove(cube); err != nil {
				t.Fatal(err)
			}
			writeFile(t, cube, newer.file(t))
		}},
		{"written in place", func(t *testing.T, cube string) { writeFile(t, cube, newer.file(t)) }},
	} {
		t.Run(c.way, func(t *testing.T) {
			source := t.TempDir()
			cube := older.write(t, source, 0, 0, 0)
			name := filepath.Join(mount(t, source), "z0/y0/x0.raw")
			inode := inodeOf(t, name)
			for range 3 { // within the second for which the kernel caches names
				checkChange(t, name, older.flat(), newer.flat(), func() { c.change(t, cube) })
				if after := inodeOf(t, name); after != inode {
					t.Errorf("the inode changed from %d to %d", inode, after)
				}
				older, newer = newer, older
			}
		})
	}
}

// checkChange changes a file while it is open. The next open has to see the new content. The open file has to keep the
// old content or fail.
func checkChange(t *testing.T, name string, before, after []byte, change func()) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half := make([]byte, len(before)/2)
	if _, err := f.ReadAt(half, 0); err != nil || !bytes.Equal(half, before[:len(half)]) {
		t.Fatalf("before the change: %v", err)
	}
	change()
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, after) {
		t.Errorf("the next open: got %d bytes, error %v; want the new content", len(got), err)
	}
	rest := make([]byte, len(before)-len(half))
	switch _, err := f.ReadAt(rest, int64(len(half))); {
	case err == nil && !bytes.Equal(rest, before[len(half):]):
		t.Error("the open file is a mixture of old and new content")
	case err != nil && !errors.Is(err, syscall.EIO):
		t.Errorf("the open file: %v, want the old content or EIO", err)
	}
}

// TestCubesAppearAndDisappear checks that a new cube can be opened at once, and a removed one cannot.
func TestCubesAppearAndDisappear(t *testing.T) {
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	dir := mount(t, source)
	name := filepath.Join(dir, "z0/y0/x1.raw")
	for range 3 {
		if _, err := os.ReadFile(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without the cube: %v, want ENOENT", err)
		}
		cube := small.write(t, source, 1, 0, 0)
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, small.flat()) {
			t.Errorf("with the cube: %d bytes, %v", len(got), err)
		}
		if err := os.Remove(cube); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInodesAreStable checks that inode numbers stay the same after a remount, and that no two files share one.
func TestInodesAreStable(t *testing.T) {
	source := t.TempDir()
	small.write(t, filepath.Join(source, "color/1"), 0, 0, 0)
	numbers := func() map[string]uint64 {
		dir := mount(t, source)
		found := map[string]uint64{}
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, path)
			found[rel] = inodeOf(t, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first, second := numbers(), numbers()
	seen := map[uint64]string{}
	for name, ino := range first {
		if second[name] != ino {
			t.Errorf("%s: inode %d, %d after the remount", name, ino, second[name])
		}
		if other, ok := seen[ino]; ok {
			t.Errorf("%s and %s: both have inode %d", name, other, ino)
		}
		seen[ino] = name
	}
}

func inodeOf(t *testing.T, name string) uint64 {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Lstat(name, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}
