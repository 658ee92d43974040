package fsnode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"sync/atomic"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// handle is an open file.
type handle struct {
	node     *node
	file     fs.File
	observer Observer     // of its reads
	users    atomic.Int32 // the kernel, and calls that may have been left: the last one closes the file
}

func newHandle(n *node, f fs.File, o Observer) *handle {
	h := &handle{node: n, file: f, observer: o}
	h.users.Store(1)
	return h
}

var (
	_ gofs.FileReader   = (*handle)(nil)
	_ gofs.FileReleaser = (*handle)(nil)
	_ gofs.FileLseeker  = (*handle)(nil)
)

// Read answers with all the bytes there are, or with an error.
func (h *handle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	begin := time.Now()
	result, err := h.read(ctx, dest, off)
	if err != nil {
		h.observer.Read(h.node.path, off, 0, time.Since(begin))
		return nil, h.node.log.errno("read", h.node.path, err)
	}
	h.observer.Read(h.node.path, off, result.Size(), time.Since(begin))
	return result, 0
}

func (h *handle) read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, error) {
	if _, ok := h.file.(vfs.ContextReaderAt); !ok {
		return h.readAside(ctx, len(dest), off)
	}
	patient, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, giveUp) })()
	n, err := vfs.ReadAt(patient, h.file, dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return fuse.ReadResultVector([][]byte{dest[:n]}), nil
}

// readAside reads n bytes of a file whose reads cannot be given up, into memory that is used by nobody else: a read that was
// left may end at any time.
func (h *handle) readAside(ctx context.Context, n int, off int64) (fuse.ReadResult, error) {
	h.users.Add(1)
	p, err := ask(ctx, h.node.calls, func() ([]byte, error) {
		defer h.leave()
		p := make([]byte, n)
		read, err := vfs.ReadAt(context.Background(), h.file, p, off)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return p[:read], err
	}, nothing)
	if err != nil {
		return nil, err
	}
	return fuse.ReadResultData(p), nil
}

// Lseek finds holes and data; the kernel asks for nothing else.
func (h *handle) Lseek(ctx context.Context, off uint64, whence uint32) (uint64, syscall.Errno) {
	if whence != unix.SEEK_DATA && whence != unix.SEEK_HOLE {
		return 0, syscall.EINVAL
	}
	h.users.Add(1)
	found, err := ask(ctx, h.node.calls, func() (int64, error) {
		defer h.leave()
		return h.seek(int64(off), whence)
	}, nothing)
	switch {
	case errors.Is(err, io.EOF):
		return 0, syscall.ENXIO
	case err != nil:
		return 0, h.node.log.errno("lseek", h.node.path, err)
	}
	return uint64(found), 0
}

// seek finds a hole or data at an offset or after it; io.EOF if there is none. Files that know of no
// holes are all data.
func (h *handle) seek(off int64, whence uint32) (int64, error) {
	info, err := h.file.Stat()
	if err != nil {
		return 0, err
	}
	if off < 0 || off >= info.Size() {
		return 0, io.EOF
	}
	holed, ok := h.file.(vfs.Holed)
	switch {
	case ok && whence == unix.SEEK_DATA:
		return holed.SeekData(off)
	case ok:
		return holed.SeekHole(off)
	case whence == unix.SEEK_DATA:
		return off, nil
	}
	return info.Size(), nil
}

func (h *handle) Release(context.Context) syscall.Errno {
	if err := h.leave(); err != nil {
		return h.node.log.errno("close", h.node.path, err)
	}
	return 0
}

// leave closes the file if nobody else uses it.
func (h *handle) leave() error {
	if h.users.Add(-1) > 0 {
		return nil
	}
	return h.file.Close()
}

// listing is an open directory: its entries as they were when it was opened, behind
// "." and "..". Offset i is where entry i begins.
type listing struct {
	dir     *node
	entries []fs.DirEntry
	next    int
	left    context.Context // of the last request of which a lookup was given up
}

var (
	_ gofs.FileReaddirenter = (*listing)(nil)
	_ gofs.FileSeekdirer    = (*listing)(nil)
	_ gofs.FileLookuper     = (*listing)(nil)
)

// Readdirent returns the next entry; nil at the end.
func (l *listing) Readdirent(context.Context) (*fuse.DirEntry, syscall.Errno) {
	i := l.next
	if i >= len(l.entries)+2 {
		return nil, 0
	}
	l.next++
	d := &fuse.DirEntry{Mode: syscall.S_IFDIR, Off: uint64(l.next)}
	switch i {
	case 0:
		d.Name, d.Ino = ".", inode(l.dir.path)
	case 1:
		d.Name, d.Ino = "..", inode(path.Dir(l.dir.path))
	default:
		e := l.entries[i-2]
		d.Name, d.Ino = e.Name(), inode(path.Join(l.dir.path, e.Name()))
		if !e.IsDir() {
			d.Mode = syscall.S_IFREG
		}
	}
	return d, 0
}

// Seekdir goes to an offset that Readdirent gave before.
func (l *listing) Seekdir(_ context.Context, off uint64) syscall.Errno {
	if off > uint64(len(l.entries)+2) {
		return syscall.EINVAL
	}
	l.next = int(off)
	return 0
}

// Lookup finds an entry for a listing with attributes. One request asks for many entries, and is given up once, not
// for each of them.
func (l *listing) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	if ctx == l.left {
		return nil, syscall.EINTR
	}
	child, number := l.dir.Lookup(ctx, name, out)
	if number == syscall.EINTR {
		l.left = ctx
	}
	return child, number
}
