//go:build linux

package fsnode

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// readOnly refuses the requests that would change something. The kernel makes none on the mounts of this package. But a
// program that leaves a [Descriptor] may have mounted without the option ro, and go-fuse reports success for some that
// it does not know.
type readOnly struct {
	fuse.RawFileSystem
	writable bool // some files can be written; their nodes decide
}

// Open implements fuse.RawFileSystem.
func (r readOnly) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if !r.writable && (in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY || in.Flags&syscall.O_TRUNC != 0) {
		return fuse.EROFS
	}
	return r.RawFileSystem.Open(cancel, in, out)
}

// SetAttr implements fuse.RawFileSystem.
func (r readOnly) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if !r.writable {
		return fuse.EROFS
	}
	return r.RawFileSystem.SetAttr(cancel, in, out)
}

// Mknod implements fuse.RawFileSystem.
func (readOnly) Mknod(<-chan struct{}, *fuse.MknodIn, string, *fuse.EntryOut) fuse.Status {
	return fuse.EROFS
}

// Mkdir implements fuse.RawFileSystem.
func (readOnly) Mkdir(<-chan struct{}, *fuse.MkdirIn, string, *fuse.EntryOut) fuse.Status {
	return fuse.EROFS
}

// Unlink implements fuse.RawFileSystem.
func (r readOnly) Unlink(cancel <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	if !r.writable {
		return fuse.EROFS
	}
	return r.RawFileSystem.Unlink(cancel, in, name)
}

// Rmdir implements fuse.RawFileSystem.
func (readOnly) Rmdir(<-chan struct{}, *fuse.InHeader, string) fuse.Status { return fuse.EROFS }

// Rename implements fuse.RawFileSystem.
func (r readOnly) Rename(cancel <-chan struct{}, in *fuse.RenameIn, name, newName string) fuse.Status {
	if !r.writable {
		return fuse.EROFS
	}
	return r.RawFileSystem.Rename(cancel, in, name, newName)
}

// Link implements fuse.RawFileSystem.
func (readOnly) Link(<-chan struct{}, *fuse.LinkIn, string, *fuse.EntryOut) fuse.Status {
	return fuse.EROFS
}

// Symlink implements fuse.RawFileSystem.
func (readOnly) Symlink(<-chan struct{}, *fuse.InHeader, string, string, *fuse.EntryOut) fuse.Status {
	return fuse.EROFS
}

// Create implements fuse.RawFileSystem.
func (r readOnly) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	if !r.writable {
		return fuse.EROFS
	}
	return r.RawFileSystem.Create(cancel, in, name, out)
}

// Tmpfile implements fuse.RawFileSystem.
func (readOnly) Tmpfile(<-chan struct{}, *fuse.CreateIn, *fuse.CreateOut) fuse.Status {
	return fuse.EROFS
}

// SetXAttr implements fuse.RawFileSystem.
func (r readOnly) SetXAttr(<-chan struct{}, *fuse.SetXAttrIn, string, []byte) fuse.Status {
	if r.writable {
		return fuse.ENOTSUP // programs that copy files go on without the attributes
	}
	return fuse.EROFS
}

// RemoveXAttr implements fuse.RawFileSystem.
func (readOnly) RemoveXAttr(<-chan struct{}, *fuse.InHeader, string) fuse.Status { return fuse.EROFS }
