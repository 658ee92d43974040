package fsnode

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/vfs"
)

// handle is an open file.
type handle struct {
	node     *node
	file     fs.File
	observer Observer // of its reads
}

var (
	_ gofs.FileReader   = (*handle)(nil)
	_ gofs.FileReleaser = (*handle)(nil)
	_ gofs.FileLseeker  = (*handle)(nil)
)

// patience is for how long a read goes on after a signal has come for the reader.
// Programs do not expect EINTR from a file, and the signal can wait that long; but
// one who waits for a source that does not answer must be able to leave.
const patience = 5 * time.Second

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
	patient, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, giveUp) })()
	n, err := vfs.ReadAt(patient, h.file, dest, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return fuse.ReadResultVector([][]byte{dest[:n]}), nil
}

// Lseek finds holes and data; the kernel asks for nothing else. Files that know of no
// holes are all data.
func (h *handle) Lseek(_ context.Context, off uint64, whence uint32) (uint64, syscall.Errno) {
	info, err := h.file.Stat()
	if err != nil {
		return 0, h.node.log.errno("lseek", h.node.path, err)
	}
	if off >= uint64(info.Size()) {
		return 0, syscall.ENXIO
	}
	holed, ok := h.file.(vfs.Holed)
	found := int64(off)
	switch {
	case whence == unix.SEEK_DATA && ok:
		found, err = holed.SeekData(found)
	case whence == unix.SEEK_HOLE && ok:
		found, err = holed.SeekHole(found)
	case whence == unix.SEEK_HOLE:
		found = info.Size()
	case whence != unix.SEEK_DATA:
		return 0, syscall.EINVAL
	}
	switch {
	case errors.Is(err, io.EOF):
		return 0, syscall.ENXIO
	case err != nil:
		return 0, h.node.log.errno("lseek", h.node.path, err)
	}
	return uint64(found), 0
}

func (h *handle) Release(context.Context) syscall.Errno {
	if err := h.file.Close(); err != nil {
		return h.node.log.errno("close", h.node.path, err)
	}
	return 0
}

// listing is an open directory: its entries as they were when it was opened, behind
// "." and "..". Offset i is where entry i begins.
type listing struct {
	path    string
	entries []fs.DirEntry
	next    int
}

var (
	_ gofs.FileReaddirenter = (*listing)(nil)
	_ gofs.FileSeekdirer    = (*listing)(nil)
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
		d.Name, d.Ino = ".", inode(l.path)
	case 1:
		d.Name, d.Ino = "..", inode(path.Dir(l.path))
	default:
		e := l.entries[i-2]
		d.Name, d.Ino = e.Name(), inode(path.Join(l.path, e.Name()))
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
