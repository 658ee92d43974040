package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// opened is an open file. Its version is that of the open.
type opened struct {
	f    *FS
	name string
	o    Object

	mu     sync.Mutex // guards what Read uses
	off    int64
	ahead  []byte // bytes from off on
	window int    // bytes of the next request
}

var (
	_ io.ReaderAt         = (*opened)(nil)
	_ vfs.ContextReaderAt = (*opened)(nil)
	_ vfs.ObjectFile      = (*opened)(nil)
)

// Sizes of the requests of a reader that reads in order. Files of metadata are read with one.
const (
	firstWindow = 256 << 10
	lastWindow  = 4 << 20
)

func newFile(f *FS, name string, o Object) *opened {
	return &opened{f: f, name: name, o: o, window: firstWindow}
}

func (h *opened) Stat() (fs.FileInfo, error) { return h.f.newInfo(h.name, fact{h.o, file}), nil }

func (h *opened) Close() error { return nil }

// ReadAt implements [io.ReaderAt].
func (h *opened) ReadAt(p []byte, off int64) (int, error) {
	return h.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements [vfs.ContextReaderAt].
func (h *opened) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "readat", Path: h.name, Err: fs.ErrInvalid}
	}
	if off >= h.o.Size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), h.o.Size-off))
	if err := h.f.b.Read(ctx, h.o, p[:n], off); err != nil {
		h.forgetIfChanged(err)
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ReadParts implements [vfs.ObjectFile].
func (h *opened) ReadParts(ctx context.Context, parts []vfs.Range) error {
	last := parts[len(parts)-1]
	if parts[0].Off < 0 || last.Off+int64(len(last.P)) > h.o.Size {
		return io.ErrUnexpectedEOF
	}
	err := h.f.b.ReadParts(ctx, h.o, parts)
	h.forgetIfChanged(err)
	return err
}

// forgetIfChanged forgets what is known about the object if it has changed.
func (h *opened) forgetIfChanged(err error) {
	if errors.Is(err, vfs.ErrChanged) {
		h.f.facts.forget(h.name)
	}
}

// Cached is a bucket of which parts may be on a disk of this machine.
type Cached interface {
	// ReadCached fills p from byte offset off of the object, in the version of o, and returns true if that needs no
	// request.
	ReadCached(o Object, p []byte, off int64) bool
}

// ReadCached implements [vfs.ObjectFile].
func (h *opened) ReadCached(p []byte, off int64) bool {
	c, ok := h.f.b.(Cached)
	return ok && c.ReadCached(h.o, p, off)
}

// Read implements [io.Reader]. It reads ahead.
func (h *opened) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ahead) == 0 && len(p) > 0 {
		rest := min(int64(h.window), h.o.Size-h.off)
		if rest <= 0 {
			return 0, io.EOF
		}
		ahead := make([]byte, rest)
		if _, err := h.ReadAtContext(context.Background(), ahead, h.off); err != nil {
			return 0, err
		}
		h.ahead, h.window = ahead, min(2*h.window, lastWindow)
	}
	n := copy(p, h.ahead)
	h.ahead, h.off = h.ahead[n:], h.off+int64(n)
	return n, nil
}

// dir is an open directory. It is listed at the first call of ReadDir.
type dir struct {
	f    *FS
	name string

	mu      sync.Mutex
	listed  bool
	entries []fs.DirEntry
	err     error
}

func (d *dir) Stat() (fs.FileInfo, error) { return d.f.newInfo(d.name, fact{kind: directory}), nil }

func (d *dir) Close() error { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: syscall.EISDIR}
}

// ReadDir implements [fs.ReadDirFile].
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.listed {
		d.entries, d.err = d.f.ReadDir(d.name)
		d.listed = true
	}
	if n <= 0 {
		n = len(d.entries)
	} else if len(d.entries) == 0 && d.err == nil {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	found, err := d.entries[:n:n], error(nil)
	if d.entries = d.entries[n:]; len(d.entries) == 0 {
		err = d.err
	}
	return found, err
}
