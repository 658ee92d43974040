package nfs

import (
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// watchedFS counts open files.
type watchedFS struct {
	fstest.MapFS
	mu     *sync.Mutex
	opened *int
	isOpen *int
}

func watch(files fstest.MapFS) watchedFS {
	return watchedFS{files, new(sync.Mutex), new(int), new(int)}
}

func (w watchedFS) Open(name string) (fs.File, error) {
	f, err := w.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*w.opened++
	*w.isOpen++
	return watchedFile{f, w}, nil
}

// Stat does not open the file.
func (w watchedFS) Stat(name string) (fs.FileInfo, error) { return w.MapFS.Stat(name) }

func (w watchedFS) counts() (opened, isOpen int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.opened, *w.isOpen
}

type watchedFile struct {
	fs.File
	of watchedFS
}

func (f watchedFile) Close() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	*f.of.isOpen--
	return f.File.Close()
}

func handleIn(t *testing.T, fsys fs.FS, name string) handle {
	t.Helper()
	info, err := fs.Stat(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return handleOf(name, info)
}

// TestReaders: READs at about the same place share an open file. Far READs have one of their own, up to a limit.
func TestReaders(t *testing.T) {
	w := watch(fstest.MapFS{"f": {Mode: 0o444}})
	f := newFiles(w)
	h := handleIn(t, w, "f")
	read := func(off int64) *reader {
		r, err := f.acquire(h, off, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		f.release(r)
		return r
	}
	const far = 1 << 30
	head, other := read(0), read(far)
	if head == other {
		t.Error("far READs share a reader")
	}
	for i := range int64(100) { // two sequential readers, with READs out of order
		i ^= 3
		if read(i<<20) != head || read(far+i<<20) != other {
			t.Fatalf("READ %d has another reader", i)
		}
	}
	for i := range int64(100) {
		read(far * (i + 10))
	}
	if opened, isOpen := w.counts(); opened != maxReaders || isOpen != maxReaders {
		t.Errorf("opened %d times, %d are open, expected %d", opened, isOpen, maxReaders)
	}
	f.closeIdle(time.Now().Add(idleTime / 2))
	if _, isOpen := w.counts(); isOpen != maxReaders {
		t.Errorf("%d are open after half of the time", isOpen)
	}
	held, err := f.acquire(h, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	f.closeIdle(time.Now().Add(2 * idleTime))
	if _, isOpen := w.counts(); isOpen != 1 {
		t.Errorf("%d are open, expected the one in use", isOpen)
	}
	f.release(held)
	if f.close(); f.count != 0 || len(f.open) != 0 {
		t.Errorf("%d, %d are left", f.count, len(f.open))
	}
	if _, isOpen := w.counts(); isOpen != 0 {
		t.Errorf("%d are open at the end", isOpen)
	}
}

// TestManyFiles: the files that were not used for longest are closed.
func TestManyFiles(t *testing.T) {
	files, names := bigDirectory(2 * maxFiles)
	w := watch(files)
	f := newFiles(w)
	for _, name := range names[2:] {
		r, err := f.acquire(handleIn(t, w, "dir/"+name), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		f.release(r)
	}
	if f.count != maxFiles {
		t.Errorf("%d files are open, expected %d", f.count, maxFiles)
	}
	f.close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, isOpen := w.counts(); isOpen == 0 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("%d are still open", isOpen)
		}
	}
}

// TestOpenErrors: a file that cannot be opened is tried again, and nothing stays open.
func TestOpenErrors(t *testing.T) {
	files := fstest.MapFS{"f": {Mode: 0o444}, "dir": {Mode: fs.ModeDir | 0o755}}
	w := watch(files)
	f := newFiles(w)
	for _, h := range []handle{{path: "missing"}, {path: "dir"}, {path: "f", version: [8]byte{1}}} {
		for range 3 {
			if _, err := f.acquire(h, 0, 1); statusOf(err) != statusStale {
				t.Errorf("%s: got %v", h.path, err)
			}
		}
	}
	if _, isOpen := w.counts(); isOpen != 0 || f.count != 0 {
		t.Errorf("%d are open, %d counted", isOpen, f.count)
	}
}
