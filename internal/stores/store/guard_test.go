package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// guarded writes a tree of directories with modes, files and links, and opens it both ways with a guard. An entry that
// ends with a slash is a directory, "a -> b" is a link.
func guarded(t *testing.T, entries map[string]fs.FileMode) map[string]*Dir {
	t.Helper()
	top := t.TempDir()
	for name := range entries {
		link, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(top, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range entries {
		if mode != 0 {
			if err := os.Chmod(filepath.Join(top, name), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(top, 0o755); err != nil {
		t.Fatal(err)
	}
	confined, err := Open(top)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { confined.Close() })
	following, err := OpenFollowing(top)
	if err != nil {
		t.Fatal(err)
	}
	confined.Guard(false)
	following.Guard(false)
	return map[string]*Dir{"Open": confined, "OpenFollowing": following}
}

func TestGuard(t *testing.T) {
	// the read permissions of a file that all users may reach, and of one that they may not
	const shown, hidden = 0o444, 0o400
	dirs := guarded(t, map[string]fs.FileMode{
		"file": 0o644, "open/file": 0o644, "open/dir/file": 0o644, "closed/": 0o700, "closed/file": 0o644,
		"closed/open/file": 0o644, "closed/open/": 0o755,
		"search/": 0o711, "search/file": 0o644,
		"link -> file": 0, "to-closed -> closed/file": 0, "to-dir -> closed/open": 0, "round -> closed/../file": 0,
		"open/up -> ../file":     0,
		"first -> closed/second": 0, "closed/second -> ../file": 0, "open/dir/far -> ../../closed/open/file": 0,
		"dot -> .": 0, "dots -> open/..": 0,
	})
	for name, want := range map[string]fs.FileMode{
		"file": shown, "open/file": shown, "open/dir/file": shown, "search/file": shown, "link": shown,
		"open/up":     shown,
		"closed/file": hidden, "closed/open/file": hidden, "to-closed": hidden, "to-dir/file": hidden,
		"open/dir/far": hidden,
		"round":        hidden, "first": hidden, // a user cannot pass closed, though the file lies elsewhere
		"dot/file": shown, "dot/closed/file": hidden, "dots/file": shown, "dots/dots/to-closed": hidden,
	} {
		for way, d := range dirs {
			info, err := d.Stat(name)
			if err != nil {
				t.Errorf("%s: %s: %v", way, name, err)
			} else if got := info.Mode() & 0o444; got != want || info.Size() == 0 {
				t.Errorf("%s: %s: mode %v, %d bytes, want %v", way, name, info.Mode(), info.Size(), want)
			}
			dir, base := filepath.Split(name)
			listed, err := collect(d.Describe(filepath.Clean(dir), func(n string) bool { return n == base }))
			if err != nil || len(listed) != 1 || listed[0].Err != nil || listed[0].Info.Mode()&0o444 != want {
				t.Errorf("%s: %s is described as %v, %v", way, name, listed, err)
			}
		}
	}
	for name, want := range map[string]fs.FileMode{".": 0o755, "open": 0o755, "closed": 0o700, "to-dir": 0o500,
		"search": 0o711, "dot": 0o755} {
		for way, d := range dirs {
			if info, err := d.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: directory %s: %v, %v, want %v", way, name, info, err, want)
			}
		}
	}
}

// TestGuardOutside: of a path that leads out of a source, all directories count.
func TestGuardOutside(t *testing.T) {
	above := t.TempDir()
	file := filepath.Join(above, "private", "data", "file")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("x"), 0o644),
		os.Chmod(filepath.Join(above, "private"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{false, true} {
		d, err := OpenFollowing(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		d.Guard(whole)
		info, err := d.Stat("file")
		if err != nil || (info.Mode()&0o004 == 0) != whole {
			t.Errorf("whole: %v: mode %v, %v", whole, info.Mode(), err)
		}
	}
	source := t.TempDir()
	if err := os.Symlink(file, filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenFollowing(source)
	if err != nil {
		t.Fatal(err)
	}
	d.Guard(false)
	if info, err := d.Stat("link"); err != nil || info.Mode()&0o004 != 0 {
		t.Errorf("a link out of the source: %v, %v", info, err)
	}
}

// TestGuardOutsideByLink: if the path of a directory outside of a source has a link, the directories that the link
// leads through count.
func TestGuardOutsideByLink(t *testing.T) {
	above := t.TempDir()
	file := filepath.Join(above, "private", "data", "file")
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("x"), 0o644),
		os.Chmod(above, 0o755), os.Chmod(filepath.Dir(above), 0o755),
		os.Symlink("private", filepath.Join(above, "link")),
		os.Symlink("../private/data", filepath.Join(above, "private", "again")),
		os.Symlink(filepath.Join(above, "private", "data"), filepath.Join(above, "data")),
	); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o755, 0o700} {
		if err := os.Chmod(filepath.Join(above, "private"), mode); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{"link/data", "link/again", "data"} {
			d, err := OpenFollowing(filepath.Join(above, dir))
			if err != nil {
				t.Fatal(err)
			}
			d.Guard(true)
			for _, name := range []string{".", "file"} {
				info, err := d.Stat(name)
				if err != nil {
					t.Fatal(err)
				}
				if info.Mode()&0o044 != mode&0o044 {
					t.Errorf("%s of %s, in a directory of mode %v: mode %v", name, dir, mode, info.Mode())
				}
			}
		}
	}
}

// TestGuardLoop: links that lead in a circle are an error.
func TestGuardLoop(t *testing.T) {
	for way, d := range guarded(t, map[string]fs.FileMode{"a -> b": 0, "b -> a": 0, "c -> c/c": 0}) {
		for _, name := range []string{"a", "b", "c", "c/c"} {
			if info, err := d.Stat(name); !errors.Is(err, syscall.ELOOP) {
				t.Errorf("%s: %s: %v, %v", way, name, info, err)
			}
		}
	}
}
