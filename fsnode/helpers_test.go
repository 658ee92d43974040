package fsnode

import (
	"io"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// hanging is a file system whose calls of one kind wait until they are released.
type hanging struct {
	fstest.MapFS
	open  atomic.Int32 // files that were opened and not closed
	calls atomic.Int32 // that have begun while they were to hang

	mu       sync.Mutex
	kind     string
	released chan struct{}
}

// The kinds of calls.
const (
	kindStat = "stat"
	kindOpen = "open"
	kindList = "list"
	kindSeek = "seek"
	kindRead = "read"
)

func newHanging() *hanging {
	at := time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	return &hanging{MapFS: fstest.MapFS{
		"dir/a":      {Data: []byte("aaaa"), ModTime: at},
		"dir/b":      {Data: []byte("bb"), ModTime: at},
		"live/tells": {Data: []byte("x"), ModTime: at},
	}}
}

// hang makes calls of a kind wait until the function that it returns is called.
func (h *hanging) hang(kind string) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kind, h.released = kind, make(chan struct{})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.kind = ""
		close(h.released)
	}
}

func (h *hanging) wait(kind, name string) {
	h.mu.Lock()
	waits, released := h.kind == kind && !strings.HasPrefix(name, "live"), h.released
	h.mu.Unlock()
	if waits {
		h.calls.Add(1)
		<-released
	}
}

func (h *hanging) Stat(name string) (fs.FileInfo, error) {
	h.wait(kindStat, name)
	if path.Base(name) == "panics" {
		panic("in Stat")
	}
	return h.MapFS.Stat(name)
}

func (h *hanging) ReadDir(name string) ([]fs.DirEntry, error) {
	h.wait(kindList, name)
	return h.MapFS.ReadDir(name)
}

func (h *hanging) Open(name string) (fs.File, error) {
	h.wait(kindOpen, name)
	f, err := h.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	h.open.Add(1)
	return &hangingFile{f, h, name, atomic.Bool{}}, nil
}

type hangingFile struct {
	fs.File
	of     *hanging
	name   string
	closed atomic.Bool
}

func (f *hangingFile) Close() error {
	if !f.closed.Swap(true) {
		f.of.open.Add(-1)
	}
	return f.File.Close()
}

// ReadAt cannot be given up.
func (f *hangingFile) ReadAt(p []byte, off int64) (int, error) {
	f.of.wait(kindRead, f.name)
	if f.closed.Load() {
		return 0, fs.ErrClosed
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// SeekData says that there is no hole. It implements vfs.Holed.
func (f *hangingFile) SeekData(off int64) (int64, error) {
	f.of.wait(kindSeek, f.name)
	if f.closed.Load() {
		return 0, fs.ErrClosed
	}
	return off, nil
}

func (f *hangingFile) SeekHole(int64) (int64, error) { return 0, io.EOF }

// session is the requests of a kernel, without one.
type session struct {
	t     *testing.T
	nodes fuse.RawFileSystem
}

func newSession(t *testing.T, fsys fs.FS, log *slog.Logger) *session {
	t.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	nodes, _, err := newNodes(fsys, Options{Log: log, Observer: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	return &session{t, nodes}
}

// find looks a path up and returns its node.
func (s *session) find(name string) uint64 {
	s.t.Helper()
	at := uint64(fuse.FUSE_ROOT_ID)
	for part := range strings.SplitSeq(name, "/") {
		var out fuse.EntryOut
		if status := s.nodes.Lookup(nil, header(at), part, &out); !status.Ok() {
			s.t.Fatalf("lookup of %s in %s: %v", part, name, status)
		}
		at = out.NodeId
	}
	return at
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
	const seekData = 3
	in := &fuse.LseekIn{InHeader: *header(node), Fh: handle, Whence: seekData}
	return s.nodes.Lseek(cancel, in, new(fuse.LseekOut))
}

func (s *session) release(node, handle uint64) {
	s.nodes.Release(nil, &fuse.ReleaseIn{InHeader: *header(node), Fh: handle})
}
