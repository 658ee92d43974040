//go:build linux

package fsnode

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// setAttr converts a description to attributes. The owner, the access time and the change time come from the
// Stat_t of the operating system, if the description has one.
func (n *node) setAttr(out *fuse.Attr, info fs.FileInfo) {
	carryInode(out, n.ino)
	mtime := info.ModTime()
	out.SetTimes(&mtime, &mtime, &mtime)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		out.Owner = fuse.Owner{Uid: st.Uid, Gid: st.Gid}
		out.Atime, out.Atimensec = uint64(st.Atim.Sec), uint32(st.Atim.Nsec)
		out.Ctime, out.Ctimensec = uint64(st.Ctim.Sec), uint32(st.Ctim.Nsec)
	}
	write := uint32(info.Mode().Perm()) & 0o222
	if !n.isWritable(info) {
		write = 0
	}
	out.Mode = uint32(info.Mode().Perm()) &^ 0o222
	out.Nlink = 1 // for a directory this means "unknown", so that find searches it
	out.Blksize = 4096
	if !info.IsDir() {
		out.Size = uint64(info.Size())
		out.Blocks = uint64(vfs.StoredOf(info)+511) / 512
	}
	if !vfs.DetailsOf(info).Live {
		n.override.apply(out, info.IsDir())
	}
	out.Mode |= write
}

// Statfs returns the maximum length of a name. Total and free space have no meaning here and are 0.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.NameLen, out.Bsize, out.Frsize = maxName, 4096, 4096
	return 0
}

// Getxattr returns the value of an extended attribute, or its size.
func (n *node) Getxattr(_ context.Context, name string, dest []byte) (_ uint32, number syscall.Errno) {
	defer n.log.boundary("getxattr", n.path, &number)
	value, ok := n.xattrs()[name]
	if !ok {
		return 0, syscall.ENODATA
	}
	return copyValue(dest, value)
}

// Listxattr returns the names of the extended attributes, sorted, each with a zero byte at its end.
func (n *node) Listxattr(_ context.Context, dest []byte) (_ uint32, number syscall.Errno) {
	defer n.log.boundary("listxattr", n.path, &number)
	var names strings.Builder
	for _, name := range slices.Sorted(maps.Keys(n.xattrs())) {
		names.WriteString(name + "\x00")
	}
	return copyValue(dest, names.String())
}

func (n *node) xattrs() map[string]string {
	if attributes := vfs.DetailsOf(n.info.last()).Attributes; attributes != nil {
		return attributes()
	}
	return nil
}

// copyValue copies the value to dest if it fits. Otherwise it returns the size and ERANGE, as getxattr(2)
// requires.
func copyValue(dest []byte, value string) (uint32, syscall.Errno) {
	if len(dest) < len(value) {
		return uint32(len(value)), syscall.ERANGE
	}
	return uint32(copy(dest, value)), 0
}
