//go:build linux

package fsnode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// handle is an open file.
type handle struct {
	node     *node
	file     fs.File
	observer Observer     // of its reads
	once     *onceReader  // nil: the reader is not watched
	users    atomic.Int32 // the kernel, and calls that may be abandoned; the last user closes the file
}

func newHandle(n *node, f fs.File, o Observer) *handle {
	h := &handle{node: n, file: f, observer: o}
	h.users.Store(1)
	return h
}

// newWatchedHandle returns a handle whose reads are reported to once, unless that is nil.
func newWatchedHandle(n *node, f fs.File, once *onceReader) *handle {
	h := newHandle(n, f, n.observer)
	h.once = once
	return h
}

var (
	_ gofs.FileReader   = (*handle)(nil)
	_ gofs.FileReleaser = (*handle)(nil)
	_ gofs.FileLseeker  = (*handle)(nil)
)

// Read returns all bytes of the range, up to the end of the file, or an error.
func (h *handle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	start := time.Now()
	if h.once != nil {
		h.once.observe(off, len(dest))
	}
	result, err := h.read(ctx, dest, off)
	if err != nil {
		h.observer.Read(h.node.path, off, 0, time.Since(start))
		return nil, h.node.log.errno("read", h.node.path, err)
	}
	h.observer.Read(h.node.path, off, result.Size(), time.Since(start))
	return result, 0
}

// read is Read. A panic is an error.
func (h *handle) read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, error) {
	return guard.Call("fsnode.read", func() (fuse.ReadResult, error) {
		guard.Pass("fsnode.read")
		return h.readFile(ctx, dest, off)
	})
}

func (h *handle) readFile(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, error) {
	if _, ok := h.file.(vfs.ContextReaderAt); !ok {
		return h.readAbandonable(ctx, len(dest), off)
	}
	graceful := newGrace(ctx)
	defer graceful.end()
	n, err := vfs.ReadAt(graceful, h.file, dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return fuse.ReadResultVector([][]byte{dest[:n]}), nil
}

// readAbandonable reads up to n bytes of a file whose reads cannot be canceled. It reads into memory of its
// own, because an abandoned read may write to its memory at any time.
func (h *handle) readAbandonable(ctx context.Context, n int, off int64) (fuse.ReadResult, error) {
	h.users.Add(1)
	p, err := callSource(ctx, h.node.calls, func() ([]byte, error) {
		defer h.release()
		p := make([]byte, n)
		read, err := vfs.ReadAt(context.Background(), h.file, p, off)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return p[:read], err
	}, noDiscard)
	if err != nil {
		return nil, err
	}
	return fuse.ReadResultData(p), nil
}

// Lseek finds holes and data. The kernel handles all other kinds of seeks without a request.
func (h *handle) Lseek(ctx context.Context, off uint64, whence uint32) (_ uint64, number syscall.Errno) {
	defer h.node.log.boundary("lseek", h.node.path, &number)
	if whence != unix.SEEK_DATA && whence != unix.SEEK_HOLE {
		return 0, syscall.EINVAL
	}
	h.users.Add(1)
	found, err := callSource(ctx, h.node.calls, func() (int64, error) {
		defer h.release()
		return h.seek(int64(off), whence)
	}, noDiscard)
	switch {
	case errors.Is(err, io.EOF):
		return 0, syscall.ENXIO
	case err != nil:
		return 0, h.node.log.errno("lseek", h.node.path, err)
	}
	return uint64(found), 0
}

// seek returns the first offset at or after off that is in data, or in a hole. It returns io.EOF if there is
// none. A file that is no [vfs.HoleSeeker] consists of data.
func (h *handle) seek(off int64, whence uint32) (int64, error) {
	info, err := h.file.Stat()
	if err != nil {
		return 0, err
	}
	if off < 0 || off >= info.Size() {
		return 0, io.EOF
	}
	holes, ok := h.file.(vfs.HoleSeeker)
	switch {
	case ok && whence == unix.SEEK_DATA:
		return holes.SeekData(off)
	case ok:
		return holes.SeekHole(off)
	case whence == unix.SEEK_DATA:
		return off, nil
	}
	return info.Size(), nil
}

// Release ends the use of the file by the kernel.
func (h *handle) Release(context.Context) (number syscall.Errno) {
	defer h.node.log.boundary("close", h.node.path, &number)
	if err := h.release(); err != nil {
		return h.node.log.errno("close", h.node.path, err)
	}
	return 0
}

// release removes a user of the file. It closes the file after the last one.
func (h *handle) release() error {
	if h.users.Add(-1) > 0 {
		return nil
	}
	return h.file.Close()
}
