package fsnode

import (
	"context"
	"hash/fnv"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// served is what all nodes of a mount share.
type served struct {
	fsys     fs.FS
	log      *reporter
	observer Observer
	access   access
	calls    *calls
	root     root
}

// node is an entry that the kernel knows: a path with one version of its content.
type node struct {
	gofs.Inode
	*served
	path    string
	version vfs.Version // of a file; directories have none

	// known is what the source last said of this version.
	known atomic.Pointer[fs.FileInfo]
	// ahead is of a directory that was listed not long ago.
	ahead atomic.Pointer[lookahead]
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

const rootIno = 1

// inode returns the inode number of a path: a hash, so that it is stable.
func inode(path string) uint64 {
	if path == "." {
		return rootIno
	}
	h := fnv.New128a()
	h.Write([]byte(path))
	sum := h.Sum(nil)
	ino := uint64(0)
	for _, b := range sum[:8] {
		ino = ino<<8 | uint64(b)
	}
	// Numbers with meanings of their own: 0, the root's and −1.
	if ino <= rootIno || ino == ^uint64(0) {
		ino = 2
	}
	return ino
}

// maxName is the longest name, in bytes, that an entry can have. The kernel has no
// limit of its own before 1024.
const maxName = 255

// Lookup finds the entry, in the version that it has now.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	switch {
	case len(name) > maxName:
		return nil, syscall.ENAMETOOLONG
	case !fs.ValidPath(name): // not UTF-8: nothing has such a name
		return nil, syscall.ENOENT
	}
	child := &node{served: n.served, path: path.Join(n.path, name)}
	info, err := n.look(ctx, child, name)
	if err != nil {
		return nil, n.log.errno("lookup", child.path, err)
	}
	attr := gofs.StableAttr{Mode: syscall.S_IFDIR, Ino: inode(child.path), Gen: 1}
	if !info.IsDir() {
		child.version = vfs.VersionOf(info)
		attr.Mode, attr.Gen = syscall.S_IFREG, child.version.Uint64()
	}
	child.known.Store(&info)
	n.setAttr(&out.Attr, info)
	return n.NewInode(ctx, child, attr), 0
}

// look asks the source what an entry of the directory is now. If the source may answer late and the directory was listed not
// long ago, the next entries are looked at, too.
func (n *node) look(ctx context.Context, child *node, name string) (fs.FileInfo, error) {
	ahead := n.ahead.Load()
	if ahead == nil || n.calls.prompt() {
		return child.stat(ctx)
	}
	return ask(ctx, n.calls, func() (fs.FileInfo, error) { return ahead.stat(name) }, nothing)
}

// stat asks the source what the entry is now.
func (n *node) stat(ctx context.Context) (fs.FileInfo, error) {
	return ask(ctx, n.calls, func() (fs.FileInfo, error) { return fs.Stat(n.fsys, n.path) }, nothing)
}

// Getattr describes the entry. A file whose content has another version now is
// described as it was: it lives on only for those who have it open.
func (n *node) Getattr(ctx context.Context, _ gofs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if n.path == "." {
		n.setAttr(&out.Attr, n.root.get())
		return 0
	}
	info, err := n.stat(ctx)
	known := n.known.Load()
	switch {
	case n.isFile() && (err != nil || vfs.VersionOf(info) != n.version):
		n.setAttr(&out.Attr, *known)
		return 0
	case err != nil:
		return n.log.errno("getattr", n.path, err)
	}
	n.known.Store(&info)
	n.setAttr(&out.Attr, info)
	return 0
}

func (n *node) isFile() bool { return n.StableAttr().Mode == syscall.S_IFREG }

// Open opens the version of the file that this node is; if there is a newer one,
// ESTALE makes the kernel look the name up again and come back with that one.
func (n *node) Open(ctx context.Context, flags uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		return nil, 0, syscall.EROFS
	}
	f, err := ask(ctx, n.calls, n.openNow, opened.close)
	if err != nil {
		return nil, 0, n.log.errno("open", n.path, err)
	}
	if vfs.VersionOf(f.info) != n.version {
		f.close()
		return nil, 0, syscall.ESTALE
	}
	if vfs.IsLive(f.info) {
		// Past the page cache: it has a length of 0 for what is not known before.
		return newHandle(n, f.File, nobody{}), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
	}
	if p, ok := f.File.(vfs.Pusher); ok && flags&syscall.O_DIRECT == 0 {
		p.Push(vfs.Sink{All: true, Page: pageSize, Piece: pushSize, Ahead: readsUnderWay, Write: n.push})
	}
	return newHandle(n, f.File, n.observer), fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 0
}

// opened is a file as it was when it was opened.
type opened struct {
	fs.File
	info fs.FileInfo
}

func (o opened) close() { o.File.Close() } // read-only: nothing can be lost

// openNow opens the file in the version that it has now.
func (n *node) openNow() (opened, error) {
	f, err := n.fsys.Open(n.path)
	if err != nil {
		return opened{}, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return opened{}, err
	}
	return opened{f, info}, nil
}

// push gives bytes of the file to the page cache. It returns false if that has no room for them, or
// this node no kernel any more.
func (n *node) push(p []byte, off int64) bool {
	if n.WriteCache(off, p) != 0 {
		return false
	}
	n.observer.Pushed(len(p))
	return true
}

// OpendirHandle lists the directory as it is now. The kernel may not keep the listing:
// it would believe in it for as long as the directory's time of modification is the
// same, which tar and rsync set back.
func (n *node) OpendirHandle(ctx context.Context, _ uint32) (gofs.FileHandle, uint32, syscall.Errno) {
	list := func() ([]fs.DirEntry, error) { return fs.ReadDir(n.fsys, n.path) }
	entries, err := ask(ctx, n.calls, list, nothing)
	if err != nil {
		return nil, 0, n.log.errno("opendir", n.path, err)
	}
	if !n.calls.prompt() {
		n.listed(entries)
	}
	return &listing{dir: n, entries: entries}, 0, 0
}

// Fsync has nothing to do: programs call it, also on what they only read.
func (n *node) Fsync(context.Context, gofs.FileHandle, uint32) syscall.Errno { return 0 }

// Statfs tells how long names can be. How large it all is, or how much is free, has no
// meaning here: zero.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.NameLen, out.Bsize, out.Frsize = maxName, 4096, 4096
	return 0
}

// Getxattr returns the value of an extended attribute, or how long it is.
func (n *node) Getxattr(_ context.Context, name string, dest []byte) (uint32, syscall.Errno) {
	value, ok := n.attributes()[name]
	if !ok {
		return 0, syscall.ENODATA
	}
	return reply(dest, value)
}

// Listxattr returns the names of the extended attributes, each with a zero behind it.
func (n *node) Listxattr(_ context.Context, dest []byte) (uint32, syscall.Errno) {
	var names strings.Builder
	for _, name := range slices.Sorted(maps.Keys(n.attributes())) {
		names.WriteString(name + "\x00")
	}
	return reply(dest, names.String())
}

func (n *node) attributes() map[string]string {
	if known := n.known.Load(); known != nil {
		if info, ok := (*known).(vfs.AttributedInfo); ok {
			return info.Attributes()
		}
	}
	return nil
}

// reply puts the value into dest if there is room for it, as getxattr(2) says.
func reply(dest []byte, value string) (uint32, syscall.Errno) {
	if len(dest) < len(value) {
		return uint32(len(value)), syscall.ERANGE
	}
	return uint32(copy(dest, value)), 0
}

// setAttr translates a FileInfo. Owner, times and the rest come from the operating
// system's description of what the entry is made of, where there is one.
func (s *served) setAttr(out *fuse.Attr, info fs.FileInfo) {
	mtime := info.ModTime()
	out.SetTimes(&mtime, &mtime, &mtime)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		out.Owner = fuse.Owner{Uid: st.Uid, Gid: st.Gid}
		out.Atime, out.Atimensec = uint64(st.Atim.Sec), uint32(st.Atim.Nsec)
		out.Ctime, out.Ctimensec = uint64(st.Ctim.Sec), uint32(st.Ctim.Nsec)
	}
	out.Mode = uint32(info.Mode().Perm()) &^ 0o222
	out.Nlink = 1 // of a directory: "unknown", so that find looks into it
	out.Blksize = 4096
	if !info.IsDir() {
		out.Size = uint64(info.Size())
		out.Blocks = uint64(vfs.StoredOf(info)+511) / 512
	}
	if !vfs.IsLive(info) {
		s.access.override(out, info.IsDir())
	}
}
