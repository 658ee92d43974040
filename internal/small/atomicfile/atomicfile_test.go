package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func writeText(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

// checkDir checks that dir has exactly the files, with their contents.
func checkDir(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok {
			t.Errorf("%s is in the directory", e.Name())
		}
	}
	for name, text := range want {
		if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != text || err != nil {
			t.Errorf("%s has %q, %v; expected %q", name, b, err, text)
		}
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"the first", "another", ""} {
		if err := Replace(path, 0o666, writeText(text)); err != nil {
			t.Fatal(err)
		}
		checkDir(t, dir, map[string]string{"file": text})
	}
}

// TestUmask: the umask decides the permissions, and those of the old file do not.
func TestUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, 0o666, writeText("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v, %v; expected 0640", info.Mode(), err)
	}
}

// TestTemp: the new file lies beside the old one under a temporary name.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := Replace(path, 0o666, func(f *os.File) error {
		name := filepath.Base(f.Name())
		if !IsTemp(name) {
			t.Errorf("%s is not a temporary name", name)
		}
		checkDir(t, dir, map[string]string{"file": "old", name: ""})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", ".file", "file.tmp", ".file.tmp.json"} {
		if IsTemp(name) {
			t.Errorf("%s is a temporary name", name)
		}
	}
}

// TestErrors: after an error the old file is there, the new one is not, and the error names the path.
func TestErrors(t *testing.T) {
	failed := errors.New("failed")
	tests := []struct {
		name  string
		path  string
		write func(*os.File) error
		want  error
	}{
		{"write fails", "file", func(f *os.File) error { return errors.Join(writeText("half")(f), failed) }, failed},
		{"close fails", "file", func(f *os.File) error { return f.Close() }, fs.ErrClosed},
		{"no directory", "missing/file", writeText("new"), fs.ErrNotExist},
		{"path is a directory", "dir", writeText("new"), fs.ErrExist},
		{"file was removed", "file", func(f *os.File) error { return os.Remove(f.Name()) }, fs.ErrNotExist},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			if err := os.MkdirAll(filepath.Join(root, "dir", "below"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "file"), []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, test.path)
			err := Replace(path, 0o666, test.write)
			if !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("got %v, expected %v", err, test.want)
			}
			if err := os.RemoveAll(filepath.Join(root, "dir")); err != nil {
				t.Fatal(err)
			}
			checkDir(t, root, map[string]string{"file": "old"})
		})
	}
}

func TestPanic(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() { _ = recover() }()
		_ = Replace(filepath.Join(dir, "file"), 0o666, func(*os.File) error { panic("half") })
	}()
	checkDir(t, dir, nil)
}

// TestRenameNew: of several files that get the same name, one does.
func TestRenameNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "name")
	var group sync.WaitGroup
	var renamed atomic.Int32
	for range 8 {
		f, err := Create(path, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		group.Go(func() {
			switch err := RenameNew(f.Name(), path); {
			case err == nil:
				renamed.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := renamed.Load(); n != 1 {
		t.Errorf("%d files have got the name", n)
	}
}
