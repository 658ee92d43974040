package nfs

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io/fs"
	"path"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxName is the maximum length of a name, in bytes.
const maxName = 255

// entry reads a handle from the arguments and finds the entry. The error is statusStale if the entry is gone or a file
// has changed, and statusAccess if the caller may not reach it.
func (r *request) entry() (handle, fs.FileInfo, error) {
	h, err := r.handle()
	if err != nil {
		return h, nil, err
	}
	info, err := r.current(h)
	return h, info, err
}

// handle reads a handle from the arguments.
func (r *request) handle() (handle, error) {
	b := r.args.Opaque(maxHandle)
	if err := r.parsed(); err != nil {
		return handle{}, err
	}
	h, err := r.server.handles.decode(r.ctx, b,
		func(name string) error { return r.server.directories.search(r.from, name) })
	r.path = h.path
	return h, err
}

// current describes the entry of a handle.
func (r *request) current(h handle) (fs.FileInfo, error) {
	info, err := r.stat(h.path)
	switch {
	case err != nil:
		return nil, ofHandle(err)
	case !h.is(info):
		return nil, statusStale
	}
	return info, nil
}

// stat describes an entry that the caller may reach.
func (r *request) stat(name string) (fs.FileInfo, error) {
	if err := r.server.directories.search(r.from, name); err != nil {
		return nil, err
	}
	return fs.Stat(r.server.fsys, name)
}

// getAttr returns the attributes of an entry (3.3.1).
func (r *request) getAttr() error {
	h, info, err := r.entry()
	if err != nil {
		return err
	}
	r.out.Uint32(uint32(statusOK))
	r.server.putAttr(r.out, h.path, info)
	return nil
}

// lookup finds an entry of a directory in its current version (3.3.3).
func (r *request) lookup() error {
	h, err := r.handle()
	name := r.args.String(maxRecord)
	if err = errors.Join(r.parsed(), err); err != nil {
		return err
	}
	dir, err := r.current(h)
	switch {
	case err != nil:
		return err
	case !dir.IsDir():
		return statusNotDir
	case !r.from.may(dir, maySearch):
		return statusAccess
	case len(name) > maxName:
		return statusNameTooLong
	case name == "..":
		name = path.Dir(h.path)
	case name == ".":
		name = h.path
	case name == "" || !fs.ValidPath(name) || path.Base(name) != name:
		return statusNoEntry // no fs.FS has such a name
	default:
		name = path.Join(h.path, name)
	}
	r.path = name
	info, err := fs.Stat(r.server.fsys, name)
	if err != nil {
		return err
	}
	r.out.Uint32(uint32(statusOK))
	r.out.Opaque(r.server.handles.encode(handleOf(name, info)))
	r.putPostAttr(name, info)
	r.putPostAttr(h.path, dir)
	return nil
}

// The permissions of ACCESS (3.3.4).
const (
	accessRead    = 0x01
	accessLookup  = 0x02
	accessExecute = 0x20
)

// access returns which permissions the caller has (3.3.4).
func (r *request) access() error {
	h, err := r.handle()
	want := r.args.Uint32()
	if err = errors.Join(r.parsed(), err); err != nil {
		return err
	}
	info, err := r.current(h)
	if err != nil {
		return err
	}
	granted := uint32(0)
	if r.from.may(info, mayRead) {
		granted |= accessRead
	}
	switch {
	case info.IsDir() && r.from.may(info, maySearch):
		granted |= accessLookup
	case !info.IsDir() && info.Mode().Perm()&0o111 != 0 && r.from.may(info, maySearch):
		granted |= accessExecute
	}
	r.out.Uint32(uint32(statusOK))
	r.putPostAttr(h.path, info)
	r.out.Uint32(granted & want)
	return nil
}

// readLink fails (3.3.5): the file system follows links, so it has none.
func (r *request) readLink() error {
	if _, _, err := r.entry(); err != nil {
		return err
	}
	return statusInvalid
}

// fsStat returns the space of the file system (3.3.18). Sizes have no meaning here and are 0.
func (r *request) fsStat() error {
	return r.root(func(e *xdr.Encoder) {
		e.Uint64(0, 0, 0, 0, 0, 0)
		e.Uint32(0) // the seconds for which this is valid
	})
}

const (
	// maxRead is the largest READ, in bytes.
	maxRead = 1 << 20
	// maxWrite is the largest WRITE, in bytes. It is refused, but the connection goes on.
	maxWrite = 64 << 10
	// maxListing is the largest reply to READDIR and READDIRPLUS, in bytes.
	maxListing = 64 << 10
)

// fsInfo returns the limits of the server (3.3.19).
func (r *request) fsInfo() error {
	return r.root(func(e *xdr.Encoder) {
		e.Uint32(maxRead, maxRead, 4096, maxWrite, maxWrite, 4096, maxListing)
		e.Uint64(1<<63 - 1)   // largest file
		e.Uint32(0, 1)        // times have nanoseconds
		const homogeneous = 8 // pathConf has one answer; there are no links
		e.Uint32(homogeneous)
	})
}

// pathConf returns the limits of names (3.3.20).
func (r *request) pathConf() error {
	return r.root(func(e *xdr.Encoder) {
		e.Uint32(1, maxName)
		e.Bool(true)  // longer names are errors
		e.Bool(true)  // only root may change owners
		e.Bool(false) // cases differ
		e.Bool(true)  // and are preserved
	})
}

// root encodes the attributes of an entry, and what is the same for all entries.
func (r *request) root(put func(*xdr.Encoder)) error {
	h, info, err := r.entry()
	if err != nil {
		return err
	}
	r.out.Uint32(uint32(statusOK))
	r.putPostAttr(h.path, info)
	put(r.out)
	return nil
}

// putPostAttr encodes a post_op_attr (2.6) of an entry.
func (r *request) putPostAttr(name string, info fs.FileInfo) {
	r.out.Bool(true)
	r.server.putAttr(r.out, name, info)
}

// attrSize is the size of an encoded fattr3, in bytes.
const attrSize = 84

// putAttr encodes the fattr3 (2.6) of an entry. The owner, the access time and the change time come from the Stat_t of
// the operating system, if there is one.
func (s *Server) putAttr(e *xdr.Encoder, name string, info fs.FileInfo) {
	const typeFile, typeDir = 1, 2
	kind, size, used := uint32(typeFile), info.Size(), vfs.StoredOf(info)
	if info.IsDir() {
		kind, size, used = typeDir, 4096, 4096
	}
	uid, gid := owner(info)
	e.Uint32(kind, uint32(info.Mode().Perm())&^0o222, 1, uid, gid)
	e.Uint64(uint64(size), uint64(used))
	e.Uint32(0, 0) // not a device
	e.Uint64(s.fsid, fileID(name))
	mtime := info.ModTime()
	modified := [2]uint32{uint32(mtime.Unix()), uint32(mtime.Nanosecond())}
	accessed, changed := modified, modified
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		access, _, change := vfs.StatTimes(st)
		accessed = [2]uint32{uint32(access.Sec), uint32(access.Nsec)}
		changed = [2]uint32{uint32(change.Sec), uint32(change.Nsec)}
	}
	e.Uint32(accessed[:]...)
	e.Uint32(modified[:]...)
	e.Uint32(changed[:]...)
}

// fileID returns the inode number of a path: a hash, the same as in a mount and after a restart.
func fileID(name string) uint64 {
	const rootID = 1
	if name == "." {
		return rootID
	}
	h := fnv.New128a()
	h.Write([]byte(name))
	return max(binary.BigEndian.Uint64(h.Sum(nil)), rootID+1)
}
