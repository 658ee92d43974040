package diskcache

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// TestAccess checks which directories are taken, and who may read what is stored in them.
func TestAccess(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	o := object.Object{Key: "k", Size: 100, Version: "1"}
	for _, test := range []struct {
		name    string
		mode    fs.FileMode // of the directory; 0: there is none
		refused string      // part of the error
		file    fs.FileMode // of pieces
	}{
		{"new", 0, "", 0o600},
		{"private", 0o700, "", 0o600},
		{"readable", 0o755, "", 0o600},
		{"shared with the group", 0o770 | fs.ModeSetgid, "", 0o660},
		{"writable for the group by chance", 0o775, "the group", 0},
		{"writable for all", 0o777, "all users", 0},
		{"writable for all, sticky", 0o777 | fs.ModeSticky, "all users", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			if test.mode != 0 {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(dir, test.mode); err != nil {
					t.Fatal(err)
				}
			}
			c, err := Open(dir, Options{Size: 1 << 20})
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), dir) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, c.Bucket(newFakeBucket(o)), o, 0, 100)
			c.Close()
			checkModes(t, dir, test.file)
		})
	}
}

func checkModes(t *testing.T, dir string, want fs.FileMode) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(dir, formatDir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		expected := want
		if n++; d.IsDir() {
			expected |= want >> 2 & 0o111
		}
		if info.Mode().Perm() != expected {
			t.Errorf("%s: %v, want %v", path, info.Mode(), expected)
		}
		return nil
	})
	if err != nil || n < 4 {
		t.Errorf("%d files, %v", n, err)
	}
}

// TestOwner checks that the directory of another user is refused, and that the own one of an ordinary user is taken.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a directory to another user")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{Size: 1 << 20}); err == nil || !strings.Contains(err.Error(), "1234") {
		t.Errorf("got %v", err)
	}
}

// TestNotADirectory checks that a file is refused.
func TestNotADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{Size: 1 << 20}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

// TestDefaultDir checks the usual place of the cache.
func TestDefaultDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/home/me/caches")
	want := "/home/me/caches/wkwfs"
	if os.Geteuid() == 0 {
		want = "/var/cache/wkwfs"
	}
	if got, err := DefaultDir(); got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
