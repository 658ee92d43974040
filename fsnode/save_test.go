//go:build linux

package fsnode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// savingFS is a writableFS whose file f is saved as a whole, and which takes new files in its root.
type savingFS struct {
	*writableFS
	files   map[string]*savedFile
	commits []string
	refused error // of commits
}

func newSavingFS() *savingFS {
	return &savingFS{writableFS: newWritableFS(), files: map[string]*savedFile{}}
}

func (f *savingFS) Stat(name string) (fs.FileInfo, error) {
	if s := f.files[name]; s != nil {
		return s, nil
	}
	return f.writableFS.Stat(name)
}

func (f *savingFS) Open(name string) (fs.File, error) {
	if s := f.files[name]; s != nil {
		return s, nil
	}
	return f.writableFS.Open(name)
}

func (f *savingFS) Rewrite(name string) (vfs.SavedFile, error) {
	return &savedFile{fsys: f, name: name}, nil
}

func (f *savingFS) Create(name string, mode fs.FileMode, uid, _ uint32) (vfs.SavedFile, error) {
	if f.files[name] != nil {
		return nil, fs.ErrExist
	}
	f.files[name] = &savedFile{fsys: f, name: name, mode: mode, uid: uid}
	return f.files[name], nil
}

func (f *savingFS) Rename(_ context.Context, from, to string) error {
	if f.refused == nil {
		f.commits = append(f.commits, to+" "+string(f.files[from].data))
		delete(f.files, from)
	}
	return f.refused
}

func (f *savingFS) Remove(name string) error {
	if f.files[name] == nil {
		return syscall.EROFS
	}
	delete(f.files, name)
	return nil
}

// savedFile is a file that is being saved, and its description.
type savedFile struct {
	fsys *savingFS
	name string
	data []byte
	mode fs.FileMode
	uid  uint32
	time time.Time
}

func (s *savedFile) Name() string               { return s.name }
func (s *savedFile) Size() int64                { return int64(len(s.data)) }
func (s *savedFile) Mode() fs.FileMode          { return s.mode }
func (s *savedFile) ModTime() time.Time         { return s.time }
func (s *savedFile) IsDir() bool                { return false }
func (s *savedFile) Sys() any                   { return &syscall.Stat_t{Uid: s.uid} }
func (s *savedFile) SetMode(mode fs.FileMode)   { s.mode = mode.Perm() }
func (s *savedFile) SetModTime(t time.Time)     { s.time = t }
func (s *savedFile) Stat() (fs.FileInfo, error) { return s, nil }
func (s *savedFile) Close() error               { return nil }
func (s *savedFile) Read([]byte) (int, error)   { return 0, io.EOF }

func (s *savedFile) Details() vfs.Details {
	return vfs.Details{Writable: true, Version: func() vfs.Version { return vfs.Version{1} }}
}

func (s *savedFile) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return bytes.NewReader(s.data).ReadAt(p, off)
}

func (s *savedFile) WriteAtContext(_ context.Context, p []byte, off int64) error {
	s.data = append(s.data[:off], p...)
	return nil
}

func (s *savedFile) Truncate(size int64) error {
	s.data = append(s.data, make([]byte, size)...)[:size]
	return nil
}

func (s *savedFile) Commit(context.Context) error {
	if s.fsys.refused == nil {
		s.fsys.commits = append(s.fsys.commits, s.name+" "+string(s.data))
	}
	return s.fsys.refused
}

func newSavingSession(t *testing.T, fsys *savingFS) *session {
	t.Helper()
	return newSessionWith(t, fsys, Options{Log: slog.New(slog.DiscardHandler), Writable: true, Saver: fsys})
}

// TestSaveOver: a program that truncates a file writes another one. Others see the file as before until the close, and
// only the program that saves sees its size.
func TestSaveOver(t *testing.T) {
	fsys := newSavingFS()
	s := newSavingSession(t, fsys)
	node := s.find("f")
	handle, status := s.openFlags(node, syscall.O_WRONLY|syscall.O_TRUNC)
	if !status.Ok() {
		t.Fatal(status)
	}
	if status := s.write(node, handle, 0, []byte("abc")); !status.Ok() {
		t.Error(status)
	}
	for flags, want := range map[uint32]uint64{0: 10, fuse.FUSE_GETATTR_FH: 3} {
		in := &fuse.GetAttrIn{InHeader: *header(node), Flags_: flags, Fh_: handle}
		var out fuse.AttrOut
		if status := s.nodes.GetAttr(nil, in, &out); !status.Ok() || out.Size != want {
			t.Errorf("flags %d: got size %d, %v, expected %d", flags, out.Size, status, want)
		}
		if fresh := out.AttrValid == 0 && out.AttrValidNsec == 0; fresh != (flags != 0) {
			t.Errorf("flags %d: the kernel may keep the size for %v", flags, out.Timeout())
		}
	}
	if got := string(fsys.MapFS["f"].Data); got != "0123456789" || len(fsys.calls) > 0 {
		t.Errorf("before the close: %q, %v", got, fsys.calls)
	}
	fsys.refused = fs.ErrInvalid
	if status := s.flush(node, handle); status != fuse.EINVAL {
		t.Errorf("a refused close: %v", status)
	}
	if status := s.fsync(node, handle); status != fuse.EINVAL {
		t.Errorf("a refused fsync: %v", status)
	}
	fsys.refused = nil
	if status := s.flush(node, handle); !status.Ok() || len(fsys.commits) != 1 || fsys.commits[0] != "f abc" {
		t.Errorf("close: %v, %q", status, fsys.commits)
	}
}

// TestNewFiles: programs make files, which the kernel never keeps, change their attributes, rename and remove them.
func TestNewFiles(t *testing.T) {
	fsys := newSavingFS()
	s := newSavingSession(t, fsys)
	create := func(name string) (out fuse.CreateOut, status fuse.Status) {
		in := &fuse.CreateIn{InHeader: *header(fuse.FUSE_ROOT_ID), Mode: 0o640}
		in.Uid = 7
		return out, s.nodes.Create(nil, in, name, &out)
	}
	out, status := create("new")
	if !status.Ok() || out.Mode&0o777 != 0o640 || out.Uid != 7 || out.OpenFlags&fuse.FOPEN_DIRECT_IO == 0 ||
		out.EntryTimeout() != 0 || out.AttrTimeout() != 0 {
		t.Fatalf("%v: %+v", status, out)
	}
	if status := s.write(out.NodeId, out.Fh, 0, []byte("abcd")); !status.Ok() {
		t.Error(status)
	}
	in := &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{InHeader: *header(out.NodeId),
		Valid: fuse.FATTR_SIZE | fuse.FATTR_MODE | fuse.FATTR_MTIME, Size: 3, Mode: 0o600, Mtime: 77}}
	var attr fuse.AttrOut
	if status := s.nodes.SetAttr(nil, in, &attr); !status.Ok() || attr.Size != 3 || attr.Mode&0o777 != 0o600 ||
		attr.Mtime != 77 {
		t.Errorf("%v: %+v", status, attr)
	}
	in.Valid, in.Owner.Uid = fuse.FATTR_UID, 8
	if status := s.nodes.SetAttr(nil, in, &attr); status != fuse.EPERM {
		t.Errorf("another owner: %v", status)
	}
	if found := s.entry("new"); found.NodeId != out.NodeId || found.Size != 3 || found.EntryTimeout() != 0 {
		t.Errorf("lookup: %+v", found)
	}
	if _, status := create("new"); status != fuse.Status(syscall.EEXIST) {
		t.Errorf("twice: %v", status)
	}
	rename := func(from, to string, flags uint32) fuse.Status {
		in := &fuse.RenameIn{InHeader: *header(fuse.FUSE_ROOT_ID), Newdir: fuse.FUSE_ROOT_ID, Flags: flags}
		return s.nodes.Rename(nil, in, from, to)
	}
	if status := rename("new", "f", 1); status != fuse.Status(syscall.EEXIST) { // RENAME_NOREPLACE
		t.Errorf("without replacing: %v", status)
	}
	if status := rename("new", "f", 2); status != fuse.EINVAL { // RENAME_EXCHANGE
		t.Errorf("exchange: %v", status)
	}
	fsys.refused = errors.New("broken")
	if status := rename("new", "f", 0); status != fuse.EIO {
		t.Errorf("broken: %v", status)
	}
	fsys.refused = nil
	if status := rename("new", "f", 0); !status.Ok() || len(fsys.commits) != 1 || fsys.commits[0] != "f abc" {
		t.Errorf("rename: %v, %q", status, fsys.commits)
	}
	if _, status := s.openFlags(out.NodeId, syscall.O_RDONLY); status != fuse.Status(syscall.ESTALE) {
		t.Errorf("open of a name that is gone: %v", status)
	}
	if _, status := create("other"); !status.Ok() {
		t.Error(status)
	}
	for name, want := range map[string]fuse.Status{"other": fuse.OK, "f": fuse.EROFS} {
		if status := s.nodes.Unlink(nil, header(fuse.FUSE_ROOT_ID), name); status != want {
			t.Errorf("unlink %s: got %v, expected %v", name, status, want)
		}
	}
}

// TestPassOver: what a program passes over after it has truncated a file that is written in place is 0, as in other
// files. All pairs of writes are tried, with and without a change of the size at the end.
func TestPassOver(t *testing.T) {
	const size = 10
	for first := range size {
		for second := range size {
			for _, extends := range []bool{false, true} {
				fsys := newWritableFS()
				s := newSessionWith(t, fsys, Options{Log: slog.New(slog.DiscardHandler), Writable: true})
				node := s.find("f")
				handle, status := s.openFlags(node, syscall.O_WRONLY|syscall.O_TRUNC)
				want := make([]byte, max(first, second)+1, size)
				for _, at := range []int{first, second} {
					if status.Ok() {
						status = s.write(node, handle, uint64(at), []byte("x"))
					}
					want[at] = 'x'
				}
				if extends && status.Ok() {
					in := &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{InHeader: *header(node),
						Valid: fuse.FATTR_SIZE | fuse.FATTR_FH, Size: size, Fh: handle}}
					status = s.nodes.SetAttr(nil, in, new(fuse.AttrOut))
					want = want[:size]
				}
				if !status.Ok() {
					t.Fatal(status)
				}
				if got := fsys.MapFS["f"].Data; !bytes.Equal(got[:len(want)], want) ||
					string(got[len(want):]) != "0123456789"[len(want):] {
					t.Fatalf("writes at %d and %d, %v: got %q, expected %q", first, second, extends, got, want)
				}
				if status := s.flush(node, handle); status.Ok() != (len(want) == size) {
					t.Errorf("writes at %d and %d, %v: close: %v", first, second, extends, status)
				}
			}
		}
	}
}
