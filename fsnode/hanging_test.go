//go:build linux

package fsnode

import (
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"
	"time"
)

// hanging is a file system. Its calls of one kind wait until a test releases them.
type hanging struct {
	fstest.MapFS
	open  atomic.Int32 // number of open files
	calls atomic.Int32 // number of calls that waited

	mu       sync.Mutex
	kind     string
	released chan struct{}
}

// The kinds of calls.
const (
	kindStat = "stat"
	kindOpen = "open"
	kindList = "list"
	kindSeek = "seek"
	kindRead = "read"
)

func newHanging() *hanging {
	at := time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	return &hanging{MapFS: fstest.MapFS{
		"dir/a":   {Data: []byte("aaaa"), ModTime: at},
		"dir/b":   {Data: []byte("bb"), ModTime: at},
		"other/f": {Data: []byte("x"), ModTime: at},
	}}
}

// hang makes calls of a kind wait until the function that it returns is called.
func (h *hanging) hang(kind string) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kind, h.released = kind, make(chan struct{})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.kind = ""
		close(h.released)
	}
}

func (h *hanging) wait(kind, name string) {
	h.mu.Lock()
	waits, released := h.kind == kind && !strings.HasPrefix(name, "other"), h.released
	h.mu.Unlock()
	if waits {
		h.calls.Add(1)
		<-released
	}
}

func (h *hanging) Stat(name string) (fs.FileInfo, error) {
	h.wait(kindStat, name)
	if path.Base(name) == "panics" {
		panic("in Stat")
	}
	return h.MapFS.Stat(name)
}

func (h *hanging) ReadDir(name string) ([]fs.DirEntry, error) {
	h.wait(kindList, name)
	return h.MapFS.ReadDir(name)
}

func (h *hanging) Open(name string) (fs.File, error) {
	h.wait(kindOpen, name)
	f, err := h.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	h.open.Add(1)
	return &hangingFile{f, h, name, atomic.Bool{}}, nil
}

type hangingFile struct {
	fs.File
	of     *hanging
	name   string
	closed atomic.Bool
}

func (f *hangingFile) Close() error {
	if !f.closed.Swap(true) {
		f.of.open.Add(-1)
	}
	return f.File.Close()
}

// ReadAt cannot be canceled.
func (f *hangingFile) ReadAt(p []byte, off int64) (int, error) {
	f.of.wait(kindRead, f.name)
	if f.closed.Load() {
		return 0, fs.ErrClosed
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// SeekData returns off, because the file has no hole. It implements vfs.HoleSeeker.
func (f *hangingFile) SeekData(off int64) (int64, error) {
	f.of.wait(kindSeek, f.name)
	if f.closed.Load() {
		return 0, fs.ErrClosed
	}
	return off, nil
}

func (f *hangingFile) SeekHole(int64) (int64, error) { return 0, io.EOF }
