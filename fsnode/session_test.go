//go:build linux

package fsnode

import (
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// session sends the requests that a kernel would send, without a mount.
type session struct {
	t     *testing.T
	nodes fuse.RawFileSystem
	mount *mount
}

func newSession(t *testing.T, fsys fs.FS, log *slog.Logger) *session {
	t.Helper()
	return newSessionWith(t, fsys, Options{Log: log})
}

func newSessionWith(t *testing.T, fsys fs.FS, o Options) *session {
	t.Helper()
	m, nodes, _, err := newNodes(fsys, o.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, nodes, m}
}

// find returns the node of a path.
func (s *session) find(name string) uint64 {
	s.t.Helper()
	return s.entry(name).NodeId
}

// entry returns the answer to the lookup of the last element of a path.
func (s *session) entry(name string) (out fuse.EntryOut) {
	s.t.Helper()
	out.NodeId = fuse.FUSE_ROOT_ID
	if name == "." {
		return out
	}
	for part := range strings.SplitSeq(name, "/") {
		dir := out.NodeId
		out = fuse.EntryOut{}
		if status := s.nodes.Lookup(nil, header(dir), part, &out); !status.Ok() {
			s.t.Fatalf("lookup of %s in %s: %v", part, name, status)
		}
	}
	return out
}

func header(node uint64) *fuse.InHeader { return &fuse.InHeader{NodeId: node} }

func (s *session) lookup(cancel <-chan struct{}, dir uint64, name string) fuse.Status {
	return s.nodes.Lookup(cancel, header(dir), name, new(fuse.EntryOut))
}

func (s *session) getattr(cancel <-chan struct{}, node uint64) (fuse.Attr, fuse.Status) {
	var out fuse.AttrOut
	status := s.nodes.GetAttr(cancel, &fuse.GetAttrIn{InHeader: *header(node)}, &out)
	return out.Attr, status
}

func (s *session) open(cancel <-chan struct{}, node uint64) (handle uint64, status fuse.Status) {
	var out fuse.OpenOut
	status = s.nodes.Open(cancel, &fuse.OpenIn{InHeader: *header(node)}, &out)
	return out.Fh, status
}

func (s *session) opendir(cancel <-chan struct{}, node uint64) (handle uint64, status fuse.Status) {
	var out fuse.OpenOut
	status = s.nodes.OpenDir(cancel, &fuse.OpenIn{InHeader: *header(node)}, &out)
	return out.Fh, status
}

// readdir lists an open directory with the attributes of its entries.
func (s *session) readdir(cancel <-chan struct{}, node, handle uint64) fuse.Status {
	in := &fuse.ReadIn{InHeader: *header(node), Fh: handle, Size: 4096}
	return s.nodes.ReadDirPlus(cancel, in, fuse.NewDirEntryList(make([]byte, in.Size), 0))
}

func (s *session) read(cancel <-chan struct{}, node, handle uint64) ([]byte, fuse.Status) {
	p := make([]byte, 4096)
	result, status := s.nodes.Read(cancel, &fuse.ReadIn{InHeader: *header(node), Fh: handle, Size: uint32(len(p))}, p)
	if !status.Ok() {
		return nil, status
	}
	p, status = result.Bytes(p)
	return p, status
}

func (s *session) seekData(cancel <-chan struct{}, node, handle uint64) fuse.Status {
	_, status := s.lseek(cancel, node, handle, 0, unix.SEEK_DATA)
	return status
}

func (s *session) lseek(cancel <-chan struct{}, node, handle, off uint64, whence uint32) (found uint64,
	status fuse.Status) {
	var out fuse.LseekOut
	status = s.nodes.Lseek(cancel, &fuse.LseekIn{InHeader: *header(node), Fh: handle, Offset: off, Whence: whence},
		&out)
	return out.Offset, status
}

func (s *session) release(node, handle uint64) {
	s.nodes.Release(nil, &fuse.ReleaseIn{InHeader: *header(node), Fh: handle})
}
