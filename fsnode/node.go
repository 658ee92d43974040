//go:build linux

package fsnode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// mount is the state that all nodes of a mount share.
type mount struct {
	fsys     fs.FS
	log      *reporter
	observer Observer
	override override
	calls    *sourceCalls
	reopens  reopens
	paths    nodePaths

	mapsDirect atomic.Bool // the kernel can map files that are read past the page cache
	onceReads  onceReads
	limits     limits

	writable bool // files that can be written are
	writers  openWriters
	saver    vfs.Saver // nil: files are written in place only
}

// node is an entry that the kernel knows: a path with one version of its content.
type node struct {
	gofs.Inode
	*mount
	path    string
	ino     uint64      // inode number
	version vfs.Version // of a file; zero for a directory

	info  lastInfo                  // of this version
	ahead atomic.Pointer[statAhead] // of a directory with a recent listing

	opened     atomic.Bool // the file was opened before
	openedOnce atomic.Bool // its first reader read it past the page cache

	write writing
}

var (
	_ gofs.NodeLookuper       = (*node)(nil)
	_ gofs.NodeGetattrer      = (*node)(nil)
	_ gofs.NodeOpener         = (*node)(nil)
	_ gofs.NodeOpendirHandler = (*node)(nil)
	_ gofs.NodeGetxattrer     = (*node)(nil)
	_ gofs.NodeListxattrer    = (*node)(nil)
	_ gofs.NodeFsyncer        = (*node)(nil)
	_ gofs.NodeStatfser       = (*node)(nil)
)

// maxName is the maximum length of a name, in bytes. The kernel's own limit is 1024.
const maxName = 255

// Lookup finds an entry of the directory in its current version.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (found *gofs.Inode, number syscall.Errno) {
	defer n.log.boundary("lookup", path.Join(n.path, name), &number)
	switch {
	case len(name) > maxName:
		return nil, syscall.ENAMETOOLONG
	case !fs.ValidPath(name): // not UTF-8: no fs.FS has such a name
		return nil, syscall.ENOENT
	}
	child := n.newNode(path.Join(n.path, name))
	info, err := n.statChild(ctx, child, name)
	if err != nil {
		return nil, n.log.errno("lookup", child.path, err)
	}
	child.found(info)
	child.setAttr(&out.Attr, info)
	if isSaved(info) {
		out.SetEntryTimeout(never)
		out.SetAttrTimeout(never)
	}
	return n.newChild(ctx, child), 0
}

// found sets the version of the node from the description of its path.
func (n *node) found(info fs.FileInfo) {
	// One that can be written is the same node, whatever it contains. A new file is a node of its own.
	if !info.IsDir() && (!n.isWritable(info) || isSaved(info)) {
		n.version = vfs.VersionOf(info)
	}
	n.info.set(info)
}

// newChild returns the Inode of a node that was found.
func (n *node) newChild(ctx context.Context, child *node) *gofs.Inode {
	attr := gofs.StableAttr{Mode: syscall.S_IFDIR, Ino: child.id(), Gen: 1}
	if !child.info.last().IsDir() {
		attr.Mode = syscall.S_IFREG
		if child.version != (vfs.Version{}) {
			attr.Gen = child.version.Uint64()
		}
	}
	n.paths.remember(attr.Ino, child.path)
	return n.NewInode(ctx, child, attr)
}

// statChild describes an entry of the directory. If the thread opens the entry again, it describes the version
// that is kept for that. After a recent listing of a source that does not answer at once, it stats the
// following entries, too.
func (n *node) statChild(ctx context.Context, child *node, name string) (fs.FileInfo, error) {
	if info := n.reopens.stat(ctx, child.path); info != nil {
		return info, nil
	}
	ahead := n.ahead.Load()
	if ahead == nil || n.calls.atOnce() {
		return child.stat(ctx)
	}
	return callSource(ctx, n.calls, func() (fs.FileInfo, error) { return ahead.stat(name) }, noDiscard)
}

// stat describes the current version of the entry.
func (n *node) stat(ctx context.Context) (fs.FileInfo, error) {
	return callSource(ctx, n.calls, func() (fs.FileInfo, error) { return fs.Stat(n.fsys, n.path) }, noDiscard)
}

// Getattr returns the attributes of the entry. For the root and for files, it returns the last attributes if
// the source fails or does not answer.
func (n *node) Getattr(ctx context.Context, f gofs.FileHandle, out *fuse.AttrOut) (number syscall.Errno) {
	defer n.log.boundary("getattr", n.path, &number)
	h, saves := f.(*savedHandle)
	saves = saves && isForHandle(&out.Attr)
	info, err := n.describe(ctx)
	if err != nil {
		return n.log.errno("getattr", n.path, err)
	}
	n.setAttr(&out.Attr, info)
	if isSaved(info) {
		out.SetTimeout(never)
	}
	if saves { // the program seeks to the end of what it has written; others see the file as before
		if info, err = h.file.Stat(); err != nil {
			return n.log.errno("getattr", n.path, err)
		}
		out.Size = uint64(info.Size())
		out.SetTimeout(never)
	}
	return 0
}

func (n *node) describe(ctx context.Context) (fs.FileInfo, error) {
	if info := n.info.last(); isSaved(info) {
		return info, nil
	}
	switch {
	case n.path != "." && !n.isFile():
		return n.stat(ctx)
	case n.isFile() && n.calls.atOnce():
		if info, err := n.statVersion(); err == nil {
			n.info.set(info)
		}
		return n.info.last(), nil
	}
	return n.info.update(n.statVersion), nil
}

// statVersion describes the root, or this version of the file. If the path has another version now, only
// programs that have the file open still use the node. It reports what its callers ignore.
func (n *node) statVersion() (fs.FileInfo, error) {
	info, err := guard.Call("fsnode.attributes", func() (fs.FileInfo, error) {
		guard.Pass("fsnode.attributes")
		return fs.Stat(n.fsys, n.path)
	})
	switch {
	case guard.Is(err), err != nil && !n.isFile():
		n.log.errno("getattr", n.path, err)
	case err == nil && n.isFile() && !n.isVersion(info):
		err = vfs.ErrChanged
	}
	return info, err
}

// isVersion reports whether a file is of the version of the node. One that can be written has none.
func (n *node) isVersion(info fs.FileInfo) bool {
	if n.version == (vfs.Version{}) && n.isWritable(info) {
		return true
	}
	return vfs.VersionOf(info) == n.version
}

func (n *node) isFile() bool { return n.StableAttr().Mode == syscall.S_IFREG }

// Open opens the file if it still has the version of the node. Otherwise it returns ESTALE: the kernel then
// looks up the name again and opens the new version, which is kept for it.
func (n *node) Open(ctx context.Context, flags uint32) (_ gofs.FileHandle, _ uint32, number syscall.Errno) {
	defer n.log.boundary("open", n.path, &number)
	writes := flags&syscall.O_ACCMODE != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0
	if writes && !n.isWritable(n.info.last()) {
		return nil, 0, syscall.EROFS
	}
	f, ok := n.reopens.take(ctx, n.path, n.version)
	if !ok {
		var err error
		f, err = callSource(ctx, n.calls, n.openCurrent, openFile.close)
		if errors.Is(err, fs.ErrNotExist) && isSaved(n.info.last()) {
			return nil, 0, syscall.ESTALE // it was renamed
		}
		if err != nil {
			return nil, 0, n.log.errno("open", n.path, err)
		}
	}
	used := false
	defer func() {
		if !used {
			f.close()
		}
	}()
	if !n.isVersion(f.info) {
		used = n.reopens.keep(ctx, n.path, f)
		return nil, 0, syscall.ESTALE
	}
	guard.Pass("fsnode.request")
	if saved, ok := f.File.(vfs.SavedFile); ok {
		h, answer, err := n.openNew(saved, flags)
		if err != nil {
			return nil, 0, n.writeErrno("open", err)
		}
		used = true
		return h, answer, 0
	}
	if flags&syscall.O_TRUNC != 0 {
		h, answer, err := n.openTruncated()
		if err != nil {
			return nil, 0, n.writeErrno("open", err)
		}
		if h != nil {
			return h, answer, 0
		}
	}
	if writes {
		h, answer, err := n.openForWriting(f, flags)
		if err != nil {
			return nil, 0, syscall.EROFS
		}
		used = true
		return h, answer, 0
	}
	h, flags := n.handle(f, flags)
	used = true
	if n.isWritable(f.info) {
		n.writers.add(n)
		return readHandle{h}, flags &^ fuse.FOPEN_KEEP_CACHE, 0
	}
	return h, flags, 0
}

// handle returns a handle of a file that the kernel opens, and the flags of the answer.
func (n *node) handle(f openFile, flags uint32) (*handle, uint32) {
	if vfs.DetailsOf(f.info).Live {
		// Direct, because the page cache would stop at the size, which is 0 until the file is read.
		return newHandle(n, f.File, noObserver{}), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH
	}
	watched := n.watch(f)
	if watched != nil && watched.direct {
		return newWatchedHandle(n, f.File, watched), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH
	}
	if p, ok := f.File.(vfs.Pusher); ok && !n.isWritable(f.info) && flags&syscall.O_DIRECT == 0 {
		p.Push(n.sink())
	}
	return newWatchedHandle(n, f.File, watched), fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH
}

// openFile is an open file and its description at the time of the open.
type openFile struct {
	fs.File
	info fs.FileInfo
}

func (o openFile) close() { o.File.Close() } // read-only: an error loses no data

// openCurrent opens the current version of the file.
func (n *node) openCurrent() (openFile, error) {
	f, err := n.fsys.Open(n.path)
	if err != nil {
		return openFile{}, err
	}
	info, err := guard.Call("fsnode.source", f.Stat)
	if err != nil {
		f.Close()
		return openFile{}, err
	}
	return openFile{f, info}, nil
}

// sink returns the page cache of the file.
func (n *node) sink() vfs.Sink {
	return vfs.Sink{All: true, Page: n.limits.page, Piece: n.limits.piece, Ahead: n.limits.ahead, Write: n.push}
}

// push writes bytes of the file to the page cache. It returns false if the page cache has no room, or if the
// kernel no longer knows the node. It reports and refuses bytes that are not whole pages of the file. The kernel would
// accept them.
func (n *node) push(p []byte, off int64) bool {
	if size := n.info.last().Size(); !n.sink().Takes(off, int64(len(p)), size) {
		n.log.errno("push", n.path, fmt.Errorf("%d bytes at byte %d: expected whole pages of the %d bytes of the file",
			len(p), off, size))
		return false
	}
	if n.WriteCache(off, p) != 0 {
		return false
	}
	n.observer.Pushed(len(p))
	return true
}

// OpendirHandle lists the first entries of the directory. The kernel must not cache the listing: it would trust it
// while the modification time of the directory is the same, and tar and rsync restore that time.
func (n *node) OpendirHandle(ctx context.Context, _ uint32) (_ gofs.FileHandle, _ uint32, number syscall.Errno) {
	defer n.log.boundary("opendir", n.path, &number)
	l := &listing{dir: n, start: 2}
	if err := l.advance(ctx); err != nil {
		return nil, 0, n.log.errno("opendir", n.path, err)
	}
	return l, 0, 0
}
