package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

func TestOpen(t *testing.T) {
	d, _ := tree(t)
	testOpen(t, d)
	undecided(d)
	testOpen(t, d)
}

func testOpen(t *testing.T, d *Dir) {
	for _, c := range []struct{ name, want string }{
		{"file", "the bytes of file"},
		{"color/1/x0.wkw", "the bytes of x0.wkw"},
		{"link", "the bytes of file"},
		{"layer/1/x0.wkw", "the bytes of x0.wkw"},
		{"deep", "the bytes of x0.wkw"},
		{"round", "the bytes of file"},
	} {
		f, err := d.Open(c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b := make([]byte, len(c.want)+1)
		n, err := f.(io.ReaderAt).ReadAt(b, 0)
		if string(b[:n]) != c.want || err != io.EOF {
			t.Errorf("%s: got %q and %v, expected %q and the end", c.name, b[:n], err, c.want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRefused: what is not served is refused without blocking. An open of a FIFO would wait for a writer.
func TestRefused(t *testing.T) {
	d, _ := tree(t)
	t.Run("by the kernel", func(t *testing.T) { testRefused(t, d) })
	undecided(d)
	t.Run("by the root", func(t *testing.T) { testRefused(t, d) })
}

func testRefused(t *testing.T, d *Dir) {
	for _, c := range []struct {
		name string
		is   error  // nil: any
		text string // part of the message
	}{
		{"nothing", fs.ErrNotExist, ""},
		{"color/nothing", fs.ErrNotExist, ""},
		{"file/below", syscall.ENOTDIR, ""},
		{"dangling", fs.ErrNotExist, ""},
		{"self", syscall.ELOOP, ""},
		{"ping", syscall.ELOOP, ""},
		{"fifo", nil, "found a FIFO"},
		{"tofifo", nil, "found a FIFO"},
		{"up", vfs.ErrLeadsOut, "--follow-links"},
		{"updir", vfs.ErrLeadsOut, "--follow-links"},
		{"updir/secret", vfs.ErrLeadsOut, "--follow-links"},
		{"absolute", vfs.ErrLeadsOut, "--follow-links"},
		{"out-and-in", vfs.ErrLeadsOut, "--follow-links"},
		{"", fs.ErrInvalid, ""},
		{"/", fs.ErrInvalid, ""},
		{"/etc/passwd", fs.ErrInvalid, ""},
		{"..", fs.ErrInvalid, ""},
		{"../secret", fs.ErrInvalid, ""},
		{"color/../file", fs.ErrInvalid, ""},
		{"color/", fs.ErrInvalid, ""},
		{"./file", fs.ErrInvalid, ""},
		{"color//1", fs.ErrInvalid, ""},
		{"file\x00", fs.ErrInvalid, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := d.Open(c.name)
			check := func(what string, err error) {
				t.Helper()
				switch {
				case err == nil:
					t.Errorf("%s: expected an error", what)
				case c.is != nil && !errors.Is(err, c.is) && !(c.is == fs.ErrInvalid && errors.Is(err, syscall.EINVAL)):
					t.Errorf("%s: got %v, expected %v", what, err, c.is)
				case !strings.Contains(err.Error(), c.text):
					t.Errorf("%s: got %v, expected %q in it", what, err, c.text)
				}
			}
			check("open", err)
			if f != nil {
				t.Errorf("got a file of type %T with the error", f)
			}
			_, err = d.ReadDir(c.name)
			check("readdir", err)
			_, err = collect(d.Describe(c.name, func(string) bool { return true }))
			if strings.Contains(c.text, "FIFO") {
				if err == nil {
					t.Error("described a file that is no directory")
				}
			} else { // a FIFO can be described
				check("describe", err)
				_, err = d.Stat(c.name)
				check("stat", err)
			}
			if c.is == fs.ErrInvalid {
				_, err = d.Lstat(c.name)
				check("lstat", err)
				_, err = d.ReadLink(c.name)
				check("readlink", err)
			}
		})
	}
}

func TestDevice(t *testing.T) {
	d, err := Open("/dev")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"null", "zero", "tty"} {
		const want = "expected a regular file, found a device"
		if _, err := d.Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", name, err, want)
		}
	}
}

func TestLinks(t *testing.T) {
	d, _ := tree(t)
	for _, name := range []string{"dangling", "up", "absolute", "self", "link"} {
		info, err := d.Lstat(name)
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("%s: got %v, %v, expected a link", name, info, err)
		}
	}
	if to, err := d.ReadLink("up"); to != "../secret" || err != nil {
		t.Errorf("got %q, %v", to, err)
	}
	if _, err := d.Lstat("updir/secret"); err == nil {
		t.Error("described a file outside")
	}
}

// TestReplaced: an open file keeps its content when its name is replaced.
func TestReplaced(t *testing.T) {
	d, path := tree(t)
	f, err := d.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.WriteFile(filepath.Join(path, "new"), []byte("other bytes"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(path, "new"), filepath.Join(path, "file")); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); string(b) != "the bytes of file" || err != nil {
		t.Errorf("open file: got %q, %v", b, err)
	}
	if b, err := fs.ReadFile(d, "file"); string(b) != "other bytes" || err != nil {
		t.Errorf("new file: got %q, %v", b, err)
	}
	if err := os.Remove(filepath.Join(path, "file")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(path, "file")); err != nil {
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(d, "file"); err == nil {
		t.Errorf("read %q through a link out of the source", b)
	}
}

func TestOpenErrors(t *testing.T) {
	_, path := tree(t)
	if _, err := Open(filepath.Join(path, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"file", "fifo"} {
		if _, err := Open(filepath.Join(path, name)); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	d, err := Open(filepath.Join(path, "updir")) // the path of the directory itself may be a link
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err := fs.ReadFile(d, "secret"); err != nil || string(b) != "the bytes of secret" {
		t.Errorf("got %q, %v", b, err)
	}
}

// replacing is a directory in which a name becomes a FIFO after it was described.
type replacing struct {
	root
	path string
}

func (r replacing) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	file := filepath.Join(r.path, name)
	if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o644)); err != nil {
		return nil, err
	}
	return r.root.OpenFile(name, flag, perm)
}

// TestReplacedByFIFO: what became a FIFO between its description and its open is refused, and does not hang.
func TestReplacedByFIFO(t *testing.T) {
	d, path := tree(t)
	d = &Dir{root: replacing{d.root, path}}
	if f, err := d.Open("file"); err == nil || !strings.Contains(err.Error(), "FIFO") {
		t.Errorf("got %v, %v", f, err)
	}
}
