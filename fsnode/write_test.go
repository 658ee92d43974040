//go:build linux

package fsnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// writableFS is a file system with the file f, of 10 bytes, that can be written, and the file r that cannot.
type writableFS struct {
	fstest.MapFS
	failed error // of writes and syncs
	calls  []string
}

func newWritableFS() *writableFS {
	return &writableFS{MapFS: fstest.MapFS{
		"f": {Data: []byte("0123456789"), Mode: 0o640}, "r": {Data: []byte("0123456789"), Mode: 0o640},
	}}
}

func (w *writableFS) Stat(name string) (fs.FileInfo, error) {
	info, err := w.MapFS.Stat(name)
	if err == nil && name == "f" {
		info = writableInfo{info}
	}
	return info, err
}

func (w *writableFS) Open(name string) (fs.File, error) {
	f, err := w.MapFS.Open(name)
	if err == nil && name == "f" {
		f = &writableFile{f, w}
	}
	return f, err
}

type writableInfo struct{ fs.FileInfo }

func (writableInfo) Details() vfs.Details { return vfs.Details{Writable: true} }

type writableFile struct {
	fs.File
	fsys *writableFS
}

func (f *writableFile) Stat() (fs.FileInfo, error) { return f.fsys.Stat("f") }

func (f *writableFile) ReadAt(p []byte, off int64) (int, error) {
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

func (f *writableFile) WriteAtContext(_ context.Context, p []byte, off int64) error {
	f.fsys.calls = append(f.fsys.calls, fmt.Sprint("write ", off))
	if f.fsys.failed == nil {
		copy(f.fsys.MapFS["f"].Data[off:], p)
	}
	return f.fsys.failed
}

func (f *writableFile) Sync(context.Context) error {
	f.fsys.calls = append(f.fsys.calls, "sync")
	return f.fsys.failed
}

// openFlags opens a file with flags.
func (s *session) openFlags(node uint64, flags uint32) (handle uint64, status fuse.Status) {
	var out fuse.OpenOut
	status = s.nodes.Open(nil, &fuse.OpenIn{InHeader: *header(node), Flags: flags}, &out)
	return out.Fh, status
}

func (s *session) write(node, handle, off uint64, p []byte) fuse.Status {
	_, status := s.nodes.Write(nil, &fuse.WriteIn{InHeader: *header(node), Fh: handle, Offset: off,
		Size: uint32(len(p))}, p)
	return status
}

func (s *session) flush(node, handle uint64) fuse.Status {
	return s.nodes.Flush(nil, &fuse.FlushIn{InHeader: *header(node), Fh: handle})
}

func (s *session) fsync(node, handle uint64) fuse.Status {
	return s.nodes.Fsync(nil, &fuse.FsyncIn{InHeader: *header(node), Fh: handle})
}

// TestTruncation: a program that sets the size to 0 has to write all bytes before it closes the file. Events: t
// truncates, w writes up to a byte, c closes a descriptor, r closes the last one.
func TestTruncation(t *testing.T) {
	for _, c := range []struct {
		events string
		want   []error // of each c and r
	}{
		{"c r", []error{nil, nil}},
		{"w5 c r", []error{nil, nil}},
		{"t w5 w10 c r", []error{nil, nil}},
		{"t w10 w5 c r", []error{nil, nil}},     // in any order
		{"t c w10 c r", []error{nil, nil, nil}}, // a shell closes a copy of the descriptor first
		{"t w3 t w10 c r", []error{nil, nil}},
		{"t w10 c w5 c r", []error{nil, nil, nil}}, // the second writer changes a part
		{"t w5 c c r", []error{fs.ErrInvalid, nil, nil}},
		{"t w10 t w5 c r", []error{fs.ErrInvalid, nil}},
		{"t w10 c t w9 c r", []error{nil, fs.ErrInvalid, nil}},
		{"t c r w5 c r", []error{nil, errSize, nil, nil}},
		{"t c w5 r", []error{nil, nil}}, // through a map, after the close
		{"w10 t c r", []error{nil, errSize}},
		{"t w0 c r", []error{nil, errSize}}, // nothing was written
	} {
		w := new(writing)
		var got []error
		for event := range strings.FieldsSeq(c.events) {
			switch event[0] {
			case 't':
				w.truncate()
			case 'w':
				end, err := strconv.ParseInt(event[1:], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				w.wrote(end)
			case 'c':
				got = append(got, w.checkReached(10))
			case 'r':
				got = append(got, w.forgetTruncation())
			}
		}
		if !slices.EqualFunc(got, c.want, errors.Is) {
			t.Errorf("%s: got %v, expected %v", c.events, got, c.want)
		}
	}
}

// TestSetattrOfWritable: sizes, permissions and owners that can be set are those that the file has, and the size 0.
func TestSetattrOfWritable(t *testing.T) {
	type attributes = fuse.SetAttrInCommon
	const size, mode, times = fuse.FATTR_SIZE, fuse.FATTR_MODE, fuse.FATTR_MTIME | fuse.FATTR_ATIME
	for what, c := range map[string]struct {
		name string
		in   attributes
		want syscall.Errno
	}{
		"the same size":            {"f", attributes{Valid: size, Size: 10}, 0},
		"nothing":                  {"f", attributes{Valid: size}, 0},
		"one less":                 {"f", attributes{Valid: size, Size: 9}, syscall.EPERM},
		"one more":                 {"f", attributes{Valid: size, Size: 11}, syscall.EPERM},
		"huge":                     {"f", attributes{Valid: size, Size: 1 << 63}, syscall.EPERM},
		"times":                    {"f", attributes{Valid: times, Mtime: 5}, 0},
		"the same permissions":     {"f", attributes{Valid: mode, Mode: 0o640}, 0},
		"other permissions":        {"f", attributes{Valid: mode, Mode: 0o600}, syscall.EPERM},
		"the same user":            {"f", attributes{Valid: fuse.FATTR_UID}, 0},
		"another user":             {"f", attributes{Valid: fuse.FATTR_UID, Owner: fuse.Owner{Uid: 7}}, syscall.EPERM},
		"another group":            {"f", attributes{Valid: fuse.FATTR_GID, Owner: fuse.Owner{Gid: 7}}, syscall.EPERM},
		"a file for readers":       {"r", attributes{Valid: size, Size: 10}, syscall.EROFS},
		"a directory":              {".", attributes{Valid: times}, syscall.EROFS},
		"size and new permissions": {"f", attributes{Valid: size | mode, Mode: 0o777}, syscall.EPERM},
	} {
		s := newSessionWith(t, newWritableFS(), Options{Log: slog.New(slog.DiscardHandler), Writable: true})
		c.in.InHeader = *header(s.find(c.name))
		var out fuse.AttrOut
		status := s.nodes.SetAttr(nil, &fuse.SetAttrIn{SetAttrInCommon: c.in}, &out)
		if syscall.Errno(status) != c.want {
			t.Errorf("%s: got %v, expected %v", what, status, c.want)
		}
		if c.want == 0 && out.Size != 10 {
			t.Errorf("%s: the answer has size %d, expected 10", what, out.Size)
		}
	}
}

// TestWriteErrors: the numbers of errors of a write, fsync and close.
func TestWriteErrors(t *testing.T) {
	for err, want := range map[error]syscall.Errno{
		nil: 0, vfs.ErrSize: syscall.EFBIG, fs.ErrInvalid: syscall.EINVAL, syscall.ENOSPC: syscall.ENOSPC,
		syscall.EDQUOT: syscall.EDQUOT, syscall.EROFS: syscall.EROFS, context.Canceled: syscall.EINTR,
		vfs.ErrChanged: syscall.EIO, errors.New("broken"): syscall.EIO, syscall.EBADF: syscall.EIO,
	} {
		fsys := newWritableFS()
		s := newSessionWith(t, fsys, Options{Log: slog.New(slog.DiscardHandler), Writable: true})
		node := s.find("f")
		handle, status := s.openFlags(node, syscall.O_RDWR)
		if !status.Ok() {
			t.Fatal(status)
		}
		if fsys.failed = err; err != nil {
			fsys.failed = fmt.Errorf("file: %w", err)
		}
		for op, status := range map[string]fuse.Status{
			"write": s.write(node, handle, 2, []byte("ab")), "fsync": s.fsync(node, handle),
			"close": s.flush(node, handle),
		} {
			if syscall.Errno(status) != want {
				t.Errorf("%s, %v: got %v, expected %v", op, err, status, want)
			}
		}
		s.release(node, handle)
	}
}

// TestWriteHandle: writes and syncs of handles reach the file in order, and a read sees them. Release syncs what was
// written after the last close, as a map does. A file for readers, and a mount for readers, cannot be opened to write.
func TestWriteHandle(t *testing.T) {
	fsys := newWritableFS()
	s := newSessionWith(t, fsys, Options{Log: slog.New(slog.DiscardHandler), Writable: true})
	node := s.find("f")
	handle, status := s.openFlags(node, syscall.O_RDWR)
	if !status.Ok() {
		t.Fatal(status)
	}
	for _, status := range []fuse.Status{
		s.write(node, handle, 2, []byte("ab")), s.fsync(node, handle), s.write(node, handle, 8, []byte("yz")),
		s.flush(node, handle), s.write(node, handle, 0, []byte("__")),
	} {
		if !status.Ok() {
			t.Error(status)
		}
	}
	if p, status := s.read(nil, node, handle); !status.Ok() || !bytes.Equal(p, []byte("__ab4567yz")) {
		t.Errorf("read %q, %v", p, status)
	}
	s.release(node, handle)
	want := []string{"write 2", "sync", "write 8", "sync", "write 0", "sync"}
	if !slices.Equal(fsys.calls, want) {
		t.Errorf("calls %q, expected %q", fsys.calls, want)
	}
	reader, status := s.openFlags(node, syscall.O_RDONLY)
	if status.Ok() {
		status = s.fsync(node, reader)
		s.release(node, reader)
	}
	if !status.Ok() || len(fsys.calls) != len(want) || len(s.mount.writers.nodes) != 0 {
		t.Errorf("a reader: %v, %q, %d nodes are open", status, fsys.calls[len(want):], len(s.mount.writers.nodes))
	}
	if _, status := s.openFlags(s.find("r"), syscall.O_WRONLY); status != fuse.EROFS {
		t.Errorf("a file for readers: %v", status)
	}
	readers := newSessionWith(t, newWritableFS(), Options{Log: slog.New(slog.DiscardHandler)})
	if _, status := readers.openFlags(readers.find("f"), syscall.O_WRONLY); status != fuse.EROFS {
		t.Errorf("a mount for readers: %v", status)
	}
}
