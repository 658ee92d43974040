//go:build linux

package fsnode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"syscall"
	"time"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// savedHandle is an open file that a program is saving. The kernel caches nothing of it.
type savedHandle struct {
	*handle
	file vfs.SavedFile

	mu      sync.Mutex
	refused error // of the last commit
}

var (
	_ gofs.FileWriter   = (*savedHandle)(nil)
	_ gofs.FileFlusher  = (*savedHandle)(nil)
	_ gofs.FileReleaser = (*savedHandle)(nil)
	_ gofs.NodeCreater  = (*node)(nil)
	_ gofs.NodeRenamer  = (*node)(nil)
	_ gofs.NodeUnlinker = (*node)(nil)
)

// never is how long the kernel may use the name and the attributes of a file that is being saved: both may belong to
// another node a moment later. go-fuse takes 0 for the default, and the kernel takes this time for some milliseconds.
// So expire replaces it.
const never = time.Nanosecond

// expire sets a time that is never to 0.
func expire(seconds uint64, ns *uint32) {
	if seconds == 0 && time.Duration(*ns) == never {
		*ns = 0
	}
}

// expireEntry has the kernel forget the name and the attributes of a file that is being saved.
func expireEntry(out *fuse.EntryOut) {
	expire(out.EntryValid, &out.EntryValidNsec)
	expire(out.AttrValid, &out.AttrValidNsec)
}

// openSaved returns a handle of a file that is being saved, and the flags of the answer.
func (n *node) openSaved(f vfs.SavedFile) (gofs.FileHandle, uint32) {
	return &savedHandle{handle: newHandle(n, f, n.observer), file: f}, fuse.FOPEN_DIRECT_IO
}

// openNew opens a new file of a program again.
func (n *node) openNew(f vfs.SavedFile, flags uint32) (gofs.FileHandle, uint32, error) {
	if flags&syscall.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			return nil, 0, err
		}
	}
	h, answer := n.openSaved(f)
	return h, answer, nil
}

// openTruncated opens a file that a program is about to write anew. The handle is nil if that is done in place.
func (n *node) openTruncated() (gofs.FileHandle, uint32, error) {
	if n.saver == nil {
		return nil, 0, nil
	}
	f, err := n.saver.Rewrite(n.path)
	if err != nil || f == nil {
		return nil, 0, err
	}
	h, answer := n.openSaved(f)
	return h, answer, nil
}

// isSaved reports whether a program is saving the file that info describes.
func isSaved(info fs.FileInfo) bool {
	_, ok := info.(vfs.SavedInfo)
	return ok
}

// Write writes all of data, or returns an error.
func (h *savedHandle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	err := guard.Do("fsnode.write", func() error {
		guard.Pass("fsnode.write")
		return h.file.WriteAtContext(ctx, data, off)
	})
	if err != nil {
		return 0, h.node.writeErrno("write", err)
	}
	return uint32(len(data)), 0
}

// Flush is called for each close of a descriptor.
func (h *savedHandle) Flush(ctx context.Context) syscall.Errno { return h.sync(ctx) }

// sync commits the file, and returns the number of the error. The error is logged when the last descriptor is closed,
// if it is still true then: programs also close copies of a descriptor while they write.
func (h *savedHandle) sync(ctx context.Context) syscall.Errno {
	err := h.commit(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused = err; err != nil {
		return writeNumber(errnoOf(err), err)
	}
	return 0
}

func (h *savedHandle) lastError() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}

// commit has the file take the place of another one, if it is to, and has other files show it.
func (h *savedHandle) commit(ctx context.Context) error {
	graceful := newGrace(ctx)
	defer graceful.end()
	return guard.Do("fsnode.write", func() error {
		if err := h.file.Commit(graceful); err != nil {
			return err
		}
		h.node.writers.invalidateOthers(nil)
		return nil
	})
}

// Release ends the use of the file by the kernel.
func (h *savedHandle) Release(ctx context.Context) syscall.Errno {
	if info, err := h.file.Stat(); err == nil && info.Size() == 0 && !isSaved(h.node.info.last()) {
		h.node.writeErrno("truncate", fmt.Errorf("%w: it was truncated and nothing was written, so it is as before",
			errSize))
	}
	if err := h.lastError(); err != nil {
		h.node.writeErrno("close", err)
	}
	return h.handle.Release(ctx)
}

// Create makes a new file.
func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (_ *gofs.Inode,
	_ gofs.FileHandle, _ uint32, number syscall.Errno) {
	at := path.Join(n.path, name)
	defer n.log.boundary("create", at, &number)
	if number := n.checkNew(name); number != 0 {
		return nil, nil, 0, number
	}
	var caller fuse.Caller
	if c, ok := fuse.FromContext(ctx); ok {
		caller = *c
	}
	f, err := n.saver.Create(at, fs.FileMode(mode).Perm(), caller.Uid, caller.Gid)
	if err != nil {
		return nil, nil, 0, n.saveErrno("create", at, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close() // nothing was written
		return nil, nil, 0, n.saveErrno("create", at, err)
	}
	child := n.newNode(at)
	child.found(info)
	child.setAttr(&out.Attr, info)
	out.SetEntryTimeout(never)
	out.SetAttrTimeout(never)
	h, flags := child.openSaved(f)
	return n.newChild(ctx, child), h, flags, 0
}

// checkNew returns the number of the error of a new file with a name.
func (n *node) checkNew(name string) syscall.Errno {
	switch {
	case n.saver == nil:
		return syscall.EROFS
	case len(name) > maxName:
		return syscall.ENAMETOOLONG
	case !fs.ValidPath(name):
		return syscall.EINVAL
	}
	return 0
}

// Rename gives a new file another name, or has it take the place of another file.
func (n *node) Rename(ctx context.Context, name string, parent gofs.InodeEmbedder, newName string,
	flags uint32) (number syscall.Errno) {
	from := path.Join(n.path, name)
	defer n.log.boundary("rename", from, &number)
	dir, ok := parent.(*node)
	if !ok || n.saver == nil {
		return syscall.EROFS
	}
	if number := n.checkNew(newName); number != 0 {
		return number
	}
	to := path.Join(dir.path, newName)
	switch flags {
	case 0:
	case unix.RENAME_NOREPLACE:
		if _, err := fs.Stat(n.fsys, to); err == nil {
			return syscall.EEXIST
		}
	default:
		return syscall.EINVAL
	}
	graceful := newGrace(ctx)
	defer graceful.end()
	err := guard.Do("fsnode.write", func() error {
		guard.Pass("fsnode.write")
		return n.saver.Rename(graceful, from, to)
	})
	if err != nil {
		return n.saveErrno("rename", to, err)
	}
	n.writers.invalidateOthers(nil)
	return 0
}

// Unlink removes a new file, or hides a file that can be written.
func (n *node) Unlink(_ context.Context, name string) (number syscall.Errno) {
	at := path.Join(n.path, name)
	defer n.log.boundary("unlink", at, &number)
	if n.saver == nil {
		return syscall.EROFS
	}
	if err := n.saver.Remove(at); err != nil {
		return n.saveErrno("unlink", at, err)
	}
	return 0
}

// saveErrno reports the error of a change of names, and returns its number. What cannot be changed is no fault.
func (n *node) saveErrno(op, at string, err error) syscall.Errno {
	switch {
	case errors.Is(err, syscall.EROFS):
		return syscall.EROFS
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	}
	return writeNumber(n.log.errno(op, at, err), err)
}

// setSaved sets attributes of a new file.
func (n *node) setSaved(info vfs.SavedInfo, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.setAttr(&out.Attr, info)
	if number := n.checkOwner(in, out); number != 0 {
		return number
	}
	if size, ok := in.GetSize(); ok {
		if err := info.Truncate(int64(size)); err != nil {
			return n.writeErrno("truncate", err)
		}
	}
	if mode, ok := in.GetMode(); ok {
		info.SetMode(fs.FileMode(mode))
	}
	if t, ok := in.GetMTime(); ok {
		info.SetModTime(t)
	}
	n.setAttr(&out.Attr, info)
	return 0
}

// checkOwner returns EPERM if another owner is set.
func (n *node) checkOwner(in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if uid, ok := in.GetUID(); ok && uid != out.Attr.Uid {
		return syscall.EPERM
	}
	if gid, ok := in.GetGID(); ok && gid != out.Attr.Gid {
		return syscall.EPERM
	}
	return 0
}
