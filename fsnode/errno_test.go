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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// faults lists every kind of error that a source returns, the error number that the reader gets for it, and
// whether the log has a line about it.
var faults = []struct {
	name   string
	err    error
	class  vfs.Class
	want   syscall.Errno
	logged bool
}{
	{"absent", fs.ErrNotExist, vfs.NotExist, syscall.ENOENT, false},
	{"absent on disk", syscall.ENOENT, vfs.NotExist, syscall.ENOENT, false},
	{"below a file", syscall.ENOTDIR, vfs.NotDirectory, syscall.ENOTDIR, false},
	{"name too long", syscall.ENAMETOOLONG, vfs.NameTooLong, syscall.ENAMETOOLONG, true},
	{"no permission", fs.ErrPermission, vfs.Permission, syscall.EACCES, false},
	{"no permission on disk", syscall.EACCES, vfs.Permission, syscall.EACCES, false},
	{"not permitted", syscall.EPERM, vfs.Permission, syscall.EACCES, false},
	{"invalid request", fs.ErrInvalid, vfs.Invalid, syscall.EINVAL, true},
	{"canceled", context.Canceled, vfs.Interrupted, syscall.EINTR, false},
	{"deadline passed", context.DeadlineExceeded, vfs.Interrupted, syscall.EINTR, false},
	{"changed while open", vfs.ErrChanged, vfs.Changed, syscall.EIO, true},
	{"too many open files", syscall.EMFILE, vfs.Exhausted, syscall.EMFILE, true},
	{"too many open files in the system", syscall.ENFILE, vfs.Exhausted, syscall.ENFILE, true},
	{"too little memory", syscall.ENOMEM, vfs.Exhausted, syscall.ENOMEM, true},
	{"disk error", syscall.EIO, vfs.IO, syscall.EIO, true},
	{"stale file of a server", syscall.ESTALE, vfs.IO, syscall.EIO, true},
	{"loop of links", syscall.ELOOP, vfs.IO, syscall.EIO, true},
	{"invalid for the disk", syscall.EINVAL, vfs.IO, syscall.EIO, true},
	{"interrupted on disk", syscall.EINTR, vfs.IO, syscall.EIO, true},
	{"damaged", errors.New("wrong magic number"), vfs.Damaged, syscall.EIO, true},
	{"truncated", io.ErrUnexpectedEOF, vfs.Damaged, syscall.EIO, true},
	{"closed", fs.ErrClosed, vfs.Damaged, syscall.EIO, true},
	{"not supported", errors.ErrUnsupported, vfs.Damaged, syscall.EIO, true},
}

// failingRequests lists the requests that report an error of the source, and the call of the source that
// fails.
var failingRequests = []struct {
	op, fails string
	path      string
	cancel    bool // the file's reads end with their context
	send      func(s *session) (send func() fuse.Status)
}{
	{"lookup", "stat", "dir/f", false, func(s *session) func() fuse.Status {
		dir := s.find("dir")
		return func() fuse.Status { return s.lookup(nil, dir, "f") }
	}},
	{"getattr", "stat", "dir", false, func(s *session) func() fuse.Status {
		dir := s.find("dir")
		return func() fuse.Status { _, status := s.getattr(nil, dir); return status }
	}},
	{"opendir", "list", "dir", false, func(s *session) func() fuse.Status {
		dir := s.find("dir")
		return func() fuse.Status { _, status := s.opendir(nil, dir); return status }
	}},
	{"open", "open", "dir/f", false, func(s *session) func() fuse.Status {
		file := s.find("dir/f")
		return func() fuse.Status { _, status := s.open(nil, file); return status }
	}},
	{"open", "fstat", "dir/f", false, func(s *session) func() fuse.Status {
		file := s.find("dir/f")
		return func() fuse.Status { _, status := s.open(nil, file); return status }
	}},
	{"read", "read", "dir/f", false, readFile},
	{"read", "read", "dir/f", true, readFile},
	{"lseek", "fstat", "dir/f", false, seekFile},
	{"lseek", "seek", "dir/f", false, seekFile},
}

func readFile(s *session) func() fuse.Status {
	file := s.find("dir/f")
	handle, _ := s.open(nil, file)
	return func() fuse.Status {
		defer s.release(file, handle)
		_, status := s.read(nil, file, handle)
		return status
	}
}

func seekFile(s *session) func() fuse.Status {
	file := s.find("dir/f")
	handle, _ := s.open(nil, file)
	return func() fuse.Status {
		defer s.release(file, handle)
		return s.seekData(nil, file, handle)
	}
}

// failures records the failed requests. It implements Observer.
type failures struct {
	noObserver
	got []string
}

func (f *failures) Failed(op, path string, err error) {
	f.got = append(f.got, fmt.Sprintf("%s %s: %v", op, path, err))
}

// TestErrors: each request answers each kind of error with its number, reports it to the observer, logs it if
// something is wrong, and leaves no file open.
func TestErrors(t *testing.T) {
	for _, c := range failingRequests {
		for _, f := range faults {
			t.Run(c.op+" "+c.fails+"/"+f.name, func(t *testing.T) {
				var log bytes.Buffer
				seen := new(failures)
				src := newSource("dir/f")
				src.file = func(f fs.File) fs.File {
					if c.cancel {
						return cancellable{f.(*sourceFile)}
					}
					return sparse{f.(*sourceFile), nil}
				}
				s := newSessionWith(t, src, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Observer: seen})
				send := c.send(s)
				src.fails, src.err = c.fails, fmt.Errorf("x0.wkw: block 3: %w", f.err)
				if status := send(); status != fuse.Status(f.want) {
					t.Errorf("got %v, expected %v", status, fuse.Status(f.want))
				}
				if want := fmt.Sprintf("[%s %s: %v]", c.op, c.path, src.err); fmt.Sprint(seen.got) != want {
					t.Errorf("the observer got %v, expected %s", seen.got, want)
				}
				line := fmt.Sprintf(`level=ERROR msg="cannot %s" path=%s err="%v"`, c.op, c.path, src.err)
				if logged := strings.Contains(log.String(), line); logged != f.logged || !logged && log.Len() > 0 {
					t.Errorf("logged %q, expected a line: %v", &log, f.logged)
				}
				if src.open != 0 {
					t.Errorf("%d files are open", src.open)
				}
			})
		}
	}
}

// TestFaultsAreComplete: the table has the class of each error, and each class.
func TestFaultsAreComplete(t *testing.T) {
	seen := map[vfs.Class]bool{}
	for _, f := range faults {
		if got := vfs.Classify(f.err); got != f.class {
			t.Errorf("%s: class %d, expected %d", f.name, got, f.class)
		}
		seen[f.class] = true
	}
	for class := vfs.NotExist; class <= vfs.Damaged; class++ {
		if !seen[class] {
			t.Errorf("no error of class %d", class)
		}
	}
}

// TestErrorOfClose: the kernel ignores it, but the observer and the log do not.
func TestErrorOfClose(t *testing.T) {
	var log bytes.Buffer
	seen := new(failures)
	src := newSource("f")
	s := newSessionWith(t, src, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Observer: seen})
	file := s.find("f")
	handle, _ := s.open(nil, file)
	src.fails, src.err = "close", syscall.EIO
	s.release(file, handle)
	if len(seen.got) != 1 || !strings.Contains(log.String(), "cannot close") {
		t.Errorf("the observer got %v; the log: %s", seen.got, &log)
	}
}

// TestRefusedRequests: some requests fail whatever the source holds. They are neither logged nor reported to
// the observer.
func TestRefusedRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(s *session, src *source) fuse.Status
		want syscall.Errno
	}{
		{"lookup of a name of 255 bytes", func(s *session, src *source) fuse.Status {
			name := strings.Repeat("x", maxName)
			src.MapFS[name] = src.MapFS["f"]
			return s.lookup(nil, fuse.FUSE_ROOT_ID, name)
		}, 0},
		{"lookup of a name of 256 bytes", func(s *session, src *source) fuse.Status {
			name := strings.Repeat("x", maxName+1)
			src.MapFS[name] = src.MapFS["f"]
			return s.lookup(nil, fuse.FUSE_ROOT_ID, name)
		}, syscall.ENAMETOOLONG},
		{"lookup of a name that is not UTF-8", func(s *session, _ *source) fuse.Status {
			return s.lookup(nil, fuse.FUSE_ROOT_ID, "\xff\xfe")
		}, syscall.ENOENT},
		{"open to write", openWith(syscall.O_WRONLY), syscall.EROFS},
		{"open to read and write", openWith(syscall.O_RDWR), syscall.EROFS},
		{"open directly", openWith(syscall.O_DIRECT), 0},
		{"open of a file that has changed", func(s *session, src *source) fuse.Status {
			file := s.find("f")
			src.MapFS["f"].ModTime = modTime.Add(time.Nanosecond)
			_, status := s.open(nil, file)
			return status
		}, syscall.ESTALE},
		{"lseek from the start", seekWith(0, unix.SEEK_SET), syscall.EINVAL},
		{"lseek from the end", seekWith(0, unix.SEEK_END), syscall.EINVAL},
		{"lseek to data at the end", seekWith(1, unix.SEEK_DATA), syscall.ENXIO},
		{"lseek to a hole at the end", seekWith(1, unix.SEEK_HOLE), syscall.ENXIO},
		{"lseek to data before the start", seekWith(1<<63, unix.SEEK_DATA), syscall.ENXIO},
		{"readdir after the end", func(s *session, _ *source) fuse.Status {
			handle, _ := s.opendir(nil, fuse.FUSE_ROOT_ID)
			_, status := s.list(fuse.FUSE_ROOT_ID, handle, 1000, 4096)
			return status
		}, syscall.EINVAL},
		{"getxattr of no attribute", func(s *session, _ *source) fuse.Status {
			_, status := s.getxattr(s.find("f"), "user.x", 100)
			return status
		}, syscall.ENODATA},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			seen := new(failures)
			src := newSource("f")
			s := newSessionWith(t, src, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Observer: seen})
			if status := c.send(s, src); status != fuse.Status(c.want) {
				t.Errorf("got %v, expected %v", status, fuse.Status(c.want))
			}
			if len(seen.got) > 0 || log.Len() > 0 {
				t.Errorf("the observer got %v; the log: %s", seen.got, &log)
			}
			if c.want != 0 && src.open != 0 {
				t.Errorf("%d files are open", src.open)
			}
		})
	}
}

func openWith(flags uint32) func(*session, *source) fuse.Status {
	return func(s *session, _ *source) fuse.Status {
		return s.nodes.Open(nil, &fuse.OpenIn{InHeader: *header(s.find("f")), Flags: flags}, new(fuse.OpenOut))
	}
}

func seekWith(off uint64, whence uint32) func(*session, *source) fuse.Status {
	return func(s *session, _ *source) fuse.Status {
		file := s.find("f")
		handle, _ := s.open(nil, file)
		defer s.release(file, handle)
		_, status := s.lseek(nil, file, handle, off, whence)
		return status
	}
}
