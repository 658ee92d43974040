package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openHandle opens a file or a directory by its file handle.
func openHandle(mountpoint *os.File, h unix.FileHandle) (*os.File, error) {
	fd, err := unix.OpenByHandleAt(int(mountpoint.Fd()), h, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "handle"), nil
}

// handleOf returns the handle of a name. flags are those of name_to_handle_at.
func handleOf(t *testing.T, name string, flags int) unix.FileHandle {
	t.Helper()
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, name, flags)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// forget makes the kernel forget what it can of all file systems.
func forget(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0); err != nil {
		t.Fatal(err)
	}
}

// TestFileHandles: file handles, which servers of NFS give to their clients, open the same file also after the kernel
// has forgotten it. A handle never opens another version.
func TestFileHandles(t *testing.T) {
	requireRoot(t) // CAP_DAC_READ_SEARCH, and to make the kernel forget
	source := tempDir(t)
	cube := small.write(t, source, 0, 0, 0)
	log := filepath.Join(tempDir(t), "log")
	dir := mount(t, source, "--debug", "--log-file", log)
	mountpoint := open(t, dir)
	name := filepath.Join(dir, "z0/y0/x0.raw")
	wantBytes := func(f *os.File) {
		t.Helper()
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, small.flat()) {
			t.Errorf("by its handle: %d bytes, not the model's; error %v", len(got), err)
		}
	}
	wantEntry := func(name string) func(*os.File) {
		return func(f *os.File) {
			t.Helper()
			if names, err := f.Readdirnames(-1); err != nil || !slices.Contains(names, name) {
				t.Errorf("the directory by its handle: %q without %q; error %v", names, name, err)
			}
		}
	}
	const connectable = 0x002 // AT_HANDLE_CONNECTABLE, since Linux 6.13: as for exports with subtree_check
	file := handleOf(t, name, 0)
	handles := map[string]struct {
		handle unix.FileHandle
		want   func(*os.File)
	}{
		"file":                {file, wantBytes},
		"directory":           {handleOf(t, filepath.Dir(name), 0), wantEntry("x0.raw")},
		"directory of blocks": {handleOf(t, filepath.Join(dir, "z0/y0/x0.blocks/z0"), 0), wantEntry("y0")},
		"root":                {handleOf(t, dir, 0), wantEntry("z0")},
	}
	if h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, name, connectable); err == nil {
		c := handles["file"]
		c.handle = h
		handles["connectable file"] = c
	}
	for name, h := range handles {
		asked := fmt.Sprintf("LOOKUP n%d ", nodeOf(h.handle))
		eventually(t, "the server is asked for the "+name, func() bool {
			forget(t)
			f, err := openHandle(mountpoint, h.handle)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			h.want(f)
			f.Close()
			requests, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(requests)) {
				if strings.Contains(line, asked) && strings.Contains(line, `\".\"`) {
					return true
				}
			}
			return name == "root" // the kernel never forgets it
		})
	}

	newer := small
	newer.seed = 1
	writeFile(t, cube+".tmp", newer.file(t))
	if err := os.Rename(cube+".tmp", cube); err != nil {
		t.Fatal(err)
	}
	newFile := handleOf(t, name, 0)
	for range 3 { // the kernel still has the node, or has forgotten it
		if f, err := openHandle(mountpoint, file); !errors.Is(err, unix.ESTALE) {
			f.Close()
			t.Errorf("the handle of a version that was replaced: %v, want ESTALE", err)
		}
		forget(t)
	}
	if err := os.Remove(cube); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if f, err := openHandle(mountpoint, newFile); !errors.Is(err, unix.ESTALE) && !errors.Is(err, unix.ENOENT) {
			f.Close()
			t.Errorf("the handle of a file that was removed: %v, want ESTALE or ENOENT", err)
		}
		forget(t)
	}
}

// nodeOf returns the number of the node in a handle that FUSE made.
func nodeOf(h unix.FileHandle) uint64 {
	b := h.Bytes()
	return uint64(binary.NativeEndian.Uint32(b))<<32 | uint64(binary.NativeEndian.Uint32(b[4:]))
}

// TestFileHandlesUnderLoad: while the kernel forgets nodes all the time, and a cube is replaced, handles of the cube
// open the version that they were made of or fail with ESTALE, and handles of directories and of another cube always
// work.
func TestFileHandlesUnderLoad(t *testing.T) {
	requireRoot(t)
	r, source := newReplacing(t)
	log := filepath.Join(tempDir(t), "log")
	dir := mount(t, source, "--log-file", log)
	mountpoint := open(t, dir)
	changing, constant := filepath.Join(dir, "color/1/z0/y0/x0.raw"), filepath.Join(dir, "color/1/z0/y0/x1.raw")
	stop := make(chan struct{})
	var workers sync.WaitGroup
	work := func(f func()) {
		workers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		})
	}
	workers.Go(func() { r.replace(t, 2*time.Millisecond, stop) })
	work(func() { forget(t) })
	work(func() { filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { return nil }) })
	for range 2 {
		work(func() { r.openByHandle(t, mountpoint, changing) })
		for _, name := range []string{constant, filepath.Dir(constant)} {
			h := handleOf(t, name, 0)
			work(func() {
				f, err := openHandle(mountpoint, h)
				if err != nil {
					t.Errorf("the handle of %s: %v", name, err)
				}
				f.Close()
			})
		}
	}
	time.AfterFunc(time.Second, func() { close(stop) })
	workers.Wait()
	if b, err := os.ReadFile(log); err != nil || bytes.Contains(b, []byte("panic")) {
		t.Errorf("error %v, log %s", err, b)
	}
}

// openByHandle opens the cube that is replaced by one handle, some times. Until that fails with ESTALE, or a read with
// EIO, because the cube has another version, the reads must return the bytes of one version.
func (r *replacing) openByHandle(t *testing.T, mountpoint *os.File, name string) {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, name, 0)
	newest := r.published.Load() + 1 // replace may have renamed a version and not published it yet
	var first []byte
	for tries := 0; err == nil && tries < 10; tries++ {
		var got []byte
		if got, err = readHandle(mountpoint, h); err != nil {
			break
		}
		if first != nil && !bytes.Equal(got, first) {
			t.Error("a handle has opened two versions")
		}
		first = got
	}
	if err != nil && !errors.Is(err, unix.ESTALE) && !errors.Is(err, unix.EIO) {
		t.Errorf("the handle of a cube that is replaced: %v, want ESTALE or EIO", err)
	}
	for m := r.model; first != nil && !bytes.Equal(first, m.flat()); m.seed++ {
		if m.seed > newest {
			t.Errorf("the bytes of a handle are of none of the versions up to %d", newest)
			return
		}
	}
}

// readHandle reads a file by its handle.
func readHandle(mountpoint *os.File, h unix.FileHandle) ([]byte, error) {
	f, err := openHandle(mountpoint, h)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
