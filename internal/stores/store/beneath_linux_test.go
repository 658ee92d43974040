package store

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// undecided makes openat2 fail for the directory, so that the os.Root resolves all paths.
func undecided(d *Dir) { d.root.(*beneath).resolve = 1 << 62 }

// TestInfo: the description of an entry of any type is that of package os.
func TestInfo(t *testing.T) {
	_, path := tree(t)
	socket, err := net.Listen("unix", filepath.Join(path, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for i, mode := range []uint32{unix.S_ISUID, unix.S_ISGID, unix.S_ISVTX, 0o777, 0o7000, 0o1, 0} {
		name := filepath.Join(path, fmt.Sprintf("mode%d", i))
		if err := os.WriteFile(name, make([]byte, i), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{path, "/dev"} {
		d, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			got, err := d.Lstat(e.Name())
			if err != nil {
				t.Errorf("%s: %v", e.Name(), err)
				continue
			}
			want, err := os.Lstat(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if fs.FormatFileInfo(got) != fs.FormatFileInfo(want) || got.IsDir() != want.IsDir() ||
				vfs.VersionOf(got) != vfs.VersionOf(want) {
				t.Errorf("got %s, expected %s", fs.FormatFileInfo(got), fs.FormatFileInfo(want))
			}
			if !reflect.DeepEqual(got.Sys(), want.Sys()) {
				t.Errorf("%s: got %+v, expected %+v", e.Name(), got.Sys(), want.Sys())
			}
		}
	}
}

// TestRenames: paths with ".." are found while something is renamed, although the kernel cannot decide
// whether they lead out.
func TestRenames(t *testing.T) {
	d, path := tree(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped }()
	go func() {
		defer close(stopped)
		a, b := filepath.Join(path, "empty"), filepath.Join(path, "renamed")
		for {
			select {
			case <-stop:
				return
			default:
				os.Rename(a, b)
				os.Rename(b, a)
			}
		}
	}()
	for range 10_000 {
		info, err := d.Stat("round") // color/../file
		if err != nil || info.Name() != "round" || info.Size() != int64(len("the bytes of file")) {
			t.Fatalf("got %v, %v", info, err)
		}
	}
}

// BenchmarkResolve measures the lookup of a path of five elements by the kernel and by the os.Root.
func BenchmarkResolve(b *testing.B) {
	path := b.TempDir()
	const name = "color/1/z0/y0/x0.wkw"
	if err := os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, name), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	for _, by := range []string{"kernel", "root"} {
		if by == "root" {
			undecided(d)
		}
		b.Run("stat/"+by, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.Stat(name); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("open/"+by, func(b *testing.B) {
			for b.Loop() {
				f, err := d.Open(name)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
