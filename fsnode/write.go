//go:build linux

package fsnode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// writing is the state of a node whose file can be written.
type writing struct {
	unsynced atomic.Bool // something was written since the last sync

	mu        sync.Mutex
	truncated bool          // to nothing: a program is about to write all of it
	reached   int64         // the end of what was written since
	filled    int64         // the end of what was written since, or is about to be, or was passed over and is 0
	turn      chan struct{} // has an item while a request fills; nil: the file was never truncated
}

// isWritable reports whether the mount can be written and the file may be.
func (m *mount) isWritable(info fs.FileInfo) bool { return m.writable && vfs.DetailsOf(info).Writable }

// writeHandle is a file that is open for writing.
type writeHandle struct {
	*handle
	file vfs.Writer
}

var (
	_ gofs.FileWriter    = (*writeHandle)(nil)
	_ gofs.FileFlusher   = (*writeHandle)(nil)
	_ gofs.FileReleaser  = (*writeHandle)(nil)
	_ gofs.NodeSetattrer = (*node)(nil)
)

// openForWriting returns a handle of a file that can be written, and the flags of the answer. The page cache keeps
// nothing from before: another file may have changed the voxels.
func (n *node) openForWriting(f openFile, flags uint32) (gofs.FileHandle, uint32, error) {
	w, ok := f.File.(vfs.Writer)
	if !ok {
		return nil, 0, syscall.EROFS
	}
	if flags&syscall.O_TRUNC != 0 {
		n.write.truncate()
	}
	h := &writeHandle{newHandle(n, f.File, n.observer), w}
	n.writers.add(n)
	return h, 0, nil
}

// Write writes all of data, or returns an error.
func (h *writeHandle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	graceful := newGrace(ctx)
	defer graceful.end()
	err := guard.Do("fsnode.write", func() error {
		guard.Pass("fsnode.write")
		h.node.write.unsynced.Store(true) // also a part may have been written
		if err := h.passOver(graceful, off, off+int64(len(data))); err != nil {
			return err
		}
		return h.file.WriteAtContext(graceful, data, off)
	})
	if err != nil {
		return 0, h.node.writeErrno("write", err)
	}
	h.node.write.wrote(off + int64(len(data)))
	return uint32(len(data)), 0
}

// zeros is what a program passes over.
var zeros [256 << 10]byte

// passOver writes zeros before the byte off of a file that was truncated, where nothing was written since: a program
// that is about to write up to the byte end has passed over them. Requests may come in another order than their bytes.
func (h *writeHandle) passOver(ctx context.Context, off, end int64) error {
	w := &h.node.write
	turn := w.fillTurn()
	if turn == nil {
		return nil
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for at := w.fillTo(0); at < off; at = w.fillTo(at + min(off-at, int64(len(zeros)))) {
		if err := h.file.WriteAtContext(ctx, zeros[:min(off-at, int64(len(zeros)))], at); err != nil {
			return err
		}
	}
	w.fillTo(end)
	return nil
}

// Flush is called for each close of a descriptor. It returns when what was written is durable.
func (h *writeHandle) Flush(ctx context.Context) syscall.Errno {
	if err := h.sync(ctx); err != nil {
		return h.node.writeErrno("close", err)
	}
	if err := h.node.write.checkReached(h.node.info.last().Size()); err != nil {
		return h.node.writeErrno("close", err)
	}
	return 0
}

// sync makes durable what was written, and has other files show it.
func (h *writeHandle) sync(ctx context.Context) error {
	graceful := newGrace(ctx)
	defer graceful.end()
	return guard.Do("fsnode.write", func() error {
		changed := h.node.write.unsynced.Swap(false)
		if err := h.file.Sync(graceful); err != nil {
			h.node.write.unsynced.Store(true)
			return err
		}
		if changed {
			h.node.writers.invalidateOthers(h.node)
		}
		return nil
	})
}

// Release ends the use of the file by the kernel. What a program has written through a map after it had closed the file
// is made durable now.
func (h *writeHandle) Release(ctx context.Context) syscall.Errno {
	defer h.node.writers.remove(h.node)
	if h.node.write.unsynced.Load() {
		if err := h.sync(context.Background()); err != nil {
			h.node.writeErrno("close", err)
		}
	}
	if err := h.node.write.forgetTruncation(); err != nil {
		h.node.writeErrno("truncate", err)
	}
	return h.handle.Release(ctx)
}

// Fsync makes durable what was written. It succeeds without doing anything for a file that is only read: some programs
// call it.
func (n *node) Fsync(ctx context.Context, f gofs.FileHandle, _ uint32) syscall.Errno {
	switch h := f.(type) {
	case *savedHandle:
		return h.sync(ctx)
	case *writeHandle:
		if err := h.sync(ctx); err != nil {
			return n.writeErrno("fsync", err)
		}
	}
	return 0
}

// errSize is the error of a change of the size.
var errSize = errors.New("the size of the file cannot change")

// Setattr accepts the size that the file has, and new times, which it ignores. It also accepts the size 0, which
// programs set when they are about to write the whole file: the bytes stay until they are written.
func (n *node) Setattr(ctx context.Context, f gofs.FileHandle, in *fuse.SetAttrIn,
	out *fuse.AttrOut) (number syscall.Errno) {
	defer n.log.boundary("setattr", n.path, &number)
	if saved, ok := n.info.last().(vfs.SavedInfo); ok {
		return n.setSaved(saved, in, out)
	}
	info, err := n.describe(ctx)
	if err != nil {
		return n.log.errno("setattr", n.path, err)
	}
	if !n.isFile() || !n.isWritable(info) {
		return syscall.EROFS
	}
	n.setAttr(&out.Attr, info)
	if mode, ok := in.GetMode(); ok && mode&0o777 != out.Attr.Mode&0o777 {
		return syscall.EPERM
	}
	if number := n.checkOwner(in, out); number != 0 {
		return number
	}
	h, saves := f.(*savedHandle)
	if size, ok := in.GetSize(); ok && saves {
		if err := h.file.Truncate(int64(size)); err != nil {
			return n.writeErrno("truncate", err)
		}
	} else if ok && size == 0 {
		n.write.truncate()
	} else if w, writes := f.(*writeHandle); ok && writes && size == out.Attr.Size {
		if err := w.extend(ctx, int64(size)); err != nil {
			return n.writeErrno("truncate", err)
		}
	} else if ok && size != out.Attr.Size {
		n.writeErrno("truncate", fmt.Errorf("%w: expected %d bytes, or 0 to write all, found %d", errSize,
			out.Attr.Size, size))
		return syscall.EPERM
	}
	return 0
}

// extend sets the size that the file has. If it was truncated, what was not written since is 0.
func (h *writeHandle) extend(ctx context.Context, size int64) error {
	if h.node.write.fillTurn() == nil {
		return nil
	}
	graceful := newGrace(ctx)
	defer graceful.end()
	return guard.Do("fsnode.write", func() error {
		h.node.write.unsynced.Store(true)
		if err := h.passOver(graceful, size, size); err != nil {
			return err
		}
		h.node.write.wrote(size)
		return nil
	})
}

func (w *writing) truncate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.truncated, w.reached, w.filled = true, 0, 0
	if w.turn == nil {
		w.turn = make(chan struct{}, 1)
	}
}

// fillTurn returns the turn to fill, or nil if the file is not truncated.
func (w *writing) fillTurn() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.truncated {
		return nil
	}
	return w.turn
}

// fillTo records that bytes up to an offset are no longer those from before the truncation, and returns the end of all
// such bytes.
func (w *writing) fillTo(end int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.filled = max(w.filled, end)
	return w.filled
}

// wrote records a write that ends at byte end.
func (w *writing) wrote(end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached = max(w.reached, end)
}

// checkReached returns an error if a program has truncated the file and written a part only. One that has written
// nothing yet may be about to: shells close a copy of the descriptor first.
func (w *writing) checkReached(size int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.truncated || w.reached == 0 {
		return nil
	}
	w.truncated = false
	if w.reached >= size {
		return nil
	}
	return fmt.Errorf(
		"the file was truncated to write all of it: expected %d bytes, found %d; the others are as before: %w",
		size, w.reached, fs.ErrInvalid)
}

// forgetTruncation returns an error if a program has truncated the file and written nothing.
func (w *writing) forgetTruncation() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.truncated || w.reached > 0 {
		return nil
	}
	w.truncated = false
	return fmt.Errorf("%w: it was truncated and nothing was written, so it is as before", errSize)
}

// writeErrno reports the error of a write and returns its number.
func (n *node) writeErrno(op string, err error) syscall.Errno {
	return writeNumber(n.log.errno(op, n.path, err), err)
}

// writeNumber returns the number of the error of a write, which is number for other requests.
func writeNumber(number syscall.Errno, err error) syscall.Errno {
	if number != syscall.EIO {
		return number
	}
	if errors.Is(err, vfs.ErrSize) {
		return syscall.EFBIG
	}
	for _, known := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if errors.Is(err, known) {
			return known
		}
	}
	return number
}

// openWriters are the nodes whose files are open and can be written, with the number of their handles.
type openWriters struct {
	mu    sync.Mutex
	nodes map[*node]int
}

func (o *openWriters) add(n *node) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.nodes == nil {
		o.nodes = map[*node]int{}
	}
	o.nodes[n]++
}

func (o *openWriters) remove(n *node) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.nodes[n]--; o.nodes[n] <= 0 {
		delete(o.nodes, n)
	}
}

// others returns the open nodes but one.
func (o *openWriters) others(but *node) (all []*node) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := range o.nodes {
		if n != but {
			all = append(all, n)
		}
	}
	return slices.Clip(all)
}

// invalidateOthers has the page cache forget the other files: they may show the same voxels. It waits for reads and
// writes of these files, which do not wait for the caller.
func (o *openWriters) invalidateOthers(but *node) {
	for _, n := range o.others(but) {
		n.NotifyContent(0, 0) // an error means that the kernel has forgotten it
	}
}

// readHandle is a file that can be written and is open for reading.
type readHandle struct{ *handle }

// Release ends the use of the file by the kernel.
func (h readHandle) Release(ctx context.Context) syscall.Errno {
	h.node.writers.remove(h.node)
	return h.handle.Release(ctx)
}
