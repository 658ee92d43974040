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

// TestChangesShowAtTheNextOpen changes cubes below a mount, in all ways in which
// people do, and holds that the next open sees the new content at once and that what
// is open stays what it was or fails, page cache included.
func TestChangesShowAtTheNextOpen(t *testing.T) {
	older, newer := small, small
	newer.seed = 12345
	for _, c := range []struct {
		what   string
		change func(t *testing.T, cube string)
	}{
		{"replaced by rename", func(t *testing.T, cube string) {
			writeFile(t, cube+".tmp", newer.file(t))
			if err := os.Rename(cube+".tmp", cube); err != nil {
				t.Fatal(err)
			}
		}},
		{"removed and made anew", func(t *testing.T, cube string) {
			if err := os.Remove(cube); err != nil {
				t.Fatal(err)
			}
			writeFile(t, cube, newer.file(t))
		}},
		{"written in place", func(t *testing.T, cube string) { writeFile(t, cube, newer.file(t)) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			source := t.TempDir()
			cube := older.write(t, source, 0, 0, 0)
			name := filepath.Join(mount(t, source), "z0/y0/x0.raw")
			inode := inodeOf(t, name)
			for range 3 { // the kernel believes names for a second: not here
				first, err := os.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				half := make([]byte, len(older.flat())/2)
				if _, err := first.ReadAt(half, 0); err != nil || !bytes.Equal(half, older.flat()[:len(half)]) {
					t.Fatalf("before: %v", err)
				}
				c.change(t, cube)
				if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, newer.flat()) {
					t.Errorf("the next open: not the new content; error %v", err)
				}
				rest := make([]byte, len(older.flat())-len(half))
				switch _, err := first.ReadAt(rest, int64(len(half))); {
				case err == nil && !bytes.Equal(rest, older.flat()[len(half):]):
					t.Error("the open file: a mixture")
				case err != nil && !errors.Is(err, syscall.EIO):
					t.Errorf("the open file: %v", err)
				}
				if err := first.Close(); err != nil {
					t.Error(err)
				}
				if after := inodeOf(t, name); after != inode {
					t.Errorf("inode %d became %d", inode, after)
				}
				older, newer = newer, older
			}
		})
	}
}

// TestCubesComeAndGo holds that a cube that appears can be opened at once, and that
// one that was removed cannot.
func TestCubesComeAndGo(t *testing.T) {
	source := t.TempDir()
	small.write(t, source, 0, 0, 0)
	dir := mount(t, source)
	name := filepath.Join(dir, "z0/y0/x1.raw")
	for range 3 {
		if _, err := os.ReadFile(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("before: %v", err)
		}
		cube := small.write(t, source, 1, 0, 0)
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, small.flat()) {
			t.Errorf("there: %v", err)
		}
		if err := os.Remove(cube); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInodesAreStable holds that inode numbers survive a remount and differ by name.
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
			t.Errorf("%s: %d, then %d", name, ino, second[name])
		}
		if other, ok := seen[ino]; ok {
			t.Errorf("%s and %s: both %d", name, other, ino)
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
