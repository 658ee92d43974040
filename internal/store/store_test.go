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
	"testing/fstest"
)

// tree makes a directory "source" with files, links and what else may lie around, and
// a file and a directory beside it that nobody may reach.
func tree(t *testing.T) (d *Dir, path string) {
	t.Helper()
	above := t.TempDir()
	path = filepath.Join(above, "source")
	for _, dir := range []string{path + "/color/1", path + "/empty", above + "/elsewhere"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path + "/file", path + "/color/1/x0.wkw", above + "/secret", above + "/elsewhere/secret"} {
		if err := os.WriteFile(name, []byte("the bytes of "+filepath.Base(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"link": "file", "layer": "color", "deep": "layer/1/x0.wkw", "round": "color/../file",
		"dangling": "nothing", "self": "self", "ping": "pong", "pong": "ping",
		"up": "../secret", "updir": "../elsewhere", "absolute": filepath.Join(above, "secret"), "out-and-in": "../source/file",
	} {
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(path, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", filepath.Join(path, "tofifo")); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, path
}

// undecided lets the kernel know no answer for the directory.
func undecided(d *Dir) { d.root.(*beneath).resolve = 1 << 62 }

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

// TestRefused also shows that nothing blocks: opening a FIFO to read waits for a writer.
func TestRefused(t *testing.T) {
	d, _ := tree(t)
	t.Run("by the kernel", func(t *testing.T) { testRefused(t, d) })
	undecided(d)
	t.Run("by the root", func(t *testing.T) { testRefused(t, d) })
}

func testRefused(t *testing.T, d *Dir) {
	for _, c := range []struct {
		name string
		is   error  // nil where no sentinel fits
		says string // part of the message
	}{
		{"nothing", fs.ErrNotExist, ""},
		{"color/nothing", fs.ErrNotExist, ""},
		{"file/below", syscall.ENOTDIR, ""},
		{"dangling", fs.ErrNotExist, ""},
		{"self", syscall.ELOOP, ""},
		{"ping", syscall.ELOOP, ""},
		{"fifo", nil, "open fifo: neither a regular file nor a directory: p"},
		{"tofifo", nil, "open tofifo: neither a regular file nor a directory: p"},
		{"up", nil, "escapes"},
		{"updir", nil, "escapes"},
		{"updir/secret", nil, "escapes"},
		{"absolute", nil, "escapes"},
		{"out-and-in", nil, "escapes"},
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
				case !strings.Contains(err.Error(), c.says):
					t.Errorf("%s: got %v, expected it to say %q", what, err, c.says)
				}
			}
			check("open", err)
			if f != nil {
				t.Errorf("got a file of type %T with the error", f)
			}
			_, err = d.ReadDir(c.name)
			check("readdir", err)
			_, err = d.Describe(c.name, func(string) bool { return true })
			if strings.HasPrefix(c.says, "open") {
				if err == nil {
					t.Error("described what is no directory")
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
		const want = "neither a regular file nor a directory: Dc"
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
		t.Error("described what lies outside")
	}
}

// TestExchanged exchanges the file behind a name: what is open stays what it was.
func TestExchanged(t *testing.T) {
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

func TestConformity(t *testing.T) {
	path := t.TempDir()
	if err := os.MkdirAll(path+"/color/1/z0/y0", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"/color/1/z0/y0/x0.wkw", []byte("WKW"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("color", path+"/layer"); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(d, "color/1/z0/y0/x0.wkw", "layer"); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open("color"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: got %v", err)
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
	d, err := Open(filepath.Join(path, "updir")) // the path itself may lead anywhere
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err := fs.ReadFile(d, "secret"); err != nil || string(b) != "the bytes of secret" {
		t.Errorf("got %q, %v", b, err)
	}
}
