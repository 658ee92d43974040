package latefs

import (
	"github.com/hanwen/go-fuse/v2/fuse"
)

// requests is a file system whose requests pass a gate first. It is the layer that gets requests from the
// kernel, so calls that the file system makes to itself do not wait.
type requests struct {
	fuse.RawFileSystem
	gate *gate
}

// metadata passes a request other than a read.
func (r *requests) metadata(kind Kind, by fuse.Caller, cancel <-chan struct{}, serve func() fuse.Status) fuse.Status {
	return r.gate.pass(request{kind: kind, thread: by.Pid, interrupted: cancel}, serve)
}

func (r *requests) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return r.metadata(Lookup, header.Caller, cancel,
		func() fuse.Status { return r.RawFileSystem.Lookup(cancel, header, name, out) })
}

func (r *requests) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return r.metadata(Getattr, in.Caller, cancel,
		func() fuse.Status { return r.RawFileSystem.GetAttr(cancel, in, out) })
}

func (r *requests) Statx(cancel <-chan struct{}, in *fuse.StatxIn, out *fuse.StatxOut) fuse.Status {
	return r.metadata(Getattr, in.Caller, cancel, func() fuse.Status { return r.RawFileSystem.Statx(cancel, in, out) })
}

func (r *requests) Access(cancel <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	return r.metadata(Getattr, in.Caller, cancel, func() fuse.Status { return r.RawFileSystem.Access(cancel, in) })
}

func (r *requests) StatFs(cancel <-chan struct{}, in *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return r.metadata(Getattr, in.Caller, cancel, func() fuse.Status { return r.RawFileSystem.StatFs(cancel, in, out) })
}

// Open opens a file that bypasses the page cache.
func (r *requests) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return r.metadata(Open, in.Caller, cancel, func() fuse.Status {
		status := r.RawFileSystem.Open(cancel, in, out)
		out.OpenFlags |= fuse.FOPEN_DIRECT_IO
		return status
	})
}

func (r *requests) OpenDir(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return r.metadata(Readdir, in.Caller, cancel,
		func() fuse.Status { return r.RawFileSystem.OpenDir(cancel, in, out) })
}

func (r *requests) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return r.metadata(Readdir, in.Caller, cancel,
		func() fuse.Status { return r.RawFileSystem.ReadDir(cancel, in, out) })
}

func (r *requests) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return r.metadata(Readdir, in.Caller, cancel,
		func() fuse.Status { return r.RawFileSystem.ReadDirPlus(cancel, in, out) })
}

func (r *requests) Readlink(cancel <-chan struct{}, header *fuse.InHeader) (target []byte, status fuse.Status) {
	status = r.metadata(Readlink, header.Caller, cancel, func() (status fuse.Status) {
		target, status = r.RawFileSystem.Readlink(cancel, header)
		return status
	})
	return target, status
}

func (r *requests) GetXAttr(cancel <-chan struct{}, header *fuse.InHeader, name string, dest []byte) (n uint32,
	status fuse.Status) {
	status = r.metadata(Getxattr, header.Caller, cancel, func() (status fuse.Status) {
		n, status = r.RawFileSystem.GetXAttr(cancel, header, name, dest)
		return status
	})
	return n, status
}

func (r *requests) ListXAttr(cancel <-chan struct{}, header *fuse.InHeader, dest []byte) (n uint32,
	status fuse.Status) {
	status = r.metadata(Getxattr, header.Caller, cancel, func() (status fuse.Status) {
		n, status = r.RawFileSystem.ListXAttr(cancel, header, dest)
		return status
	})
	return n, status
}

func (r *requests) Read(cancel <-chan struct{}, in *fuse.ReadIn, p []byte) (result fuse.ReadResult,
	status fuse.Status) {
	status = r.gate.pass(request{Read, len(p), in.Pid, cancel}, func() (status fuse.Status) {
		if mode, _ := r.gate.snapshot(); mode.Fails(int64(in.Offset), int64(len(p))) {
			return fuse.EIO
		}
		result, status = r.RawFileSystem.Read(cancel, in, p)
		return status
	})
	return result, status
}
