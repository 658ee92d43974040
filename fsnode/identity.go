//go:build linux

package fsnode

import (
	"encoding/binary"
	"hash/fnv"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

const rootIno = fuse.FUSE_ROOT_ID

// inode returns the inode number of a path. It is a hash, so that it is the same after a remount.
func inode(path string) uint64 {
	if path == "." {
		return rootIno
	}
	return hash([]byte(path))
}

// newNode returns a node without a version.
func (m *mount) newNode(path string) *node { return &node{mount: m, path: path, ino: inode(path)} }

// id returns the number by which the kernel knows the node. It is a hash of the path and, for a file, of the version:
// two versions are two nodes. So the kernel's handle of a node finds it again, and never finds another version.
func (n *node) id() uint64 {
	if n.version == (vfs.Version{}) {
		return n.ino
	}
	return hash(binary.BigEndian.AppendUint64(n.version[:len(n.version):len(n.version)], n.ino))
}

func hash(p []byte) uint64 {
	h := fnv.New128a()
	h.Write(p)
	number := binary.BigEndian.Uint64(h.Sum(nil))
	// Reserved numbers: 0, the root's and −1.
	if number <= rootIno || number == ^uint64(0) {
		number = 2
	}
	return number
}

// inodeNumbers puts inode numbers into the answers of go-fuse. There the inode number is the number of the node, which
// is another one for each version of a file.
type inodeNumbers struct{ fuse.RawFileSystem }

// carryInode writes the inode number to fields of attributes that go-fuse does not touch, and that regular files and
// directories do not use.
func carryInode(a *fuse.Attr, number uint64) { a.Rdev, a.Flags = uint32(number>>32), uint32(number) }

// showInode moves the inode number to its place.
func showInode(a *fuse.Attr) {
	a.Ino = uint64(a.Rdev)<<32 | uint64(a.Flags)
	a.Rdev, a.Flags = 0, 0
}

// Lookup implements fuse.RawFileSystem.
func (r inodeNumbers) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string,
	out *fuse.EntryOut) fuse.Status {
	status := r.RawFileSystem.Lookup(cancel, header, name, out)
	showInode(&out.Attr)
	expireEntry(out)
	return status
}

// GetAttr implements fuse.RawFileSystem.
func (r inodeNumbers) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if out.Attr.Flags = 0; in.Flags()&fuse.FUSE_GETATTR_FH != 0 {
		out.Attr.Flags = forHandle
	}
	status := r.RawFileSystem.GetAttr(cancel, in, out)
	showInode(&out.Attr)
	expire(out.AttrValid, &out.AttrValidNsec)
	return status
}

// forHandle, in the flags of an answer that is not made yet, says that the kernel asks for the attributes of an open
// file. Without it, go-fuse calls Getattr with any file that is open.
const forHandle = 1

func isForHandle(a *fuse.Attr) bool { return a.Flags == forHandle }

// Create implements fuse.RawFileSystem.
func (r inodeNumbers) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	status := r.RawFileSystem.Create(cancel, in, name, out)
	showInode(&out.Attr)
	expireEntry(&out.EntryOut)
	return status
}

// SetAttr implements fuse.RawFileSystem.
func (r inodeNumbers) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	status := r.RawFileSystem.SetAttr(cancel, in, out)
	showInode(&out.Attr)
	return status
}

// direntSize is the size of a struct fuse_dirent without its name, in bytes. The length of the name is its 5th field
// of 4 bytes.
const direntSize = 24

// ReadDirPlus implements fuse.RawFileSystem. The answer is a sequence of struct fuse_direntplus: a fuse.EntryOut, a
// struct fuse_dirent, and the name, padded to 8 bytes.
func (r inodeNumbers) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	status := r.RawFileSystem.ReadDirPlus(cancel, in, out)
	for answer := out.Bytes(); len(answer) > 0; {
		entry := (*fuse.EntryOut)(unsafe.Pointer(&answer[0]))
		showInode(&entry.Attr)
		expireEntry(entry)
		answer = answer[unsafe.Sizeof(*entry):]
		name := int(binary.NativeEndian.Uint32(answer[16:]))
		answer = answer[(direntSize+name+7)&^7:]
	}
	return status
}
