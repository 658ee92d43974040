//go:build linux

package fsnode

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// onDisk is what an operating system says about a file whose view has another size.
var onDisk = &syscall.Stat_t{
	Uid: 1001, Gid: 1002, Size: 99, Blocks: 6, Nlink: 7,
	Atim: syscall.Timespec{Sec: 1, Nsec: 2}, Ctim: syscall.Timespec{Sec: 3, Nsec: 4},
	Mtim: syscall.Timespec{Sec: 5, Nsec: 6},
}

func ptr[T any](v T) *T { return &v }

// TestAttributes: the attributes of files and directories, from the source and from the options.
func TestAttributes(t *testing.T) {
	mtime := fuse.Attr{Atime: uint64(modTime.Unix()), Mtime: uint64(modTime.Unix()), Ctime: uint64(modTime.Unix()),
		Atimensec: 123456789, Mtimensec: 123456789, Ctimensec: 123456789, Nlink: 1, Blksize: 4096}
	file := mtime // of 1000 bytes
	file.Mode, file.Size, file.Blocks = syscall.S_IFREG|0o440, 1000, 2
	dir := mtime
	dir.Mode = syscall.S_IFDIR | 0o550
	with := func(a fuse.Attr, change func(*fuse.Attr)) fuse.Attr { change(&a); return a }

	for _, c := range []struct {
		name     string
		file     fstest.MapFile
		describe func(fs.FileInfo) fs.FileInfo
		options  Options
		want     fuse.Attr
	}{
		{"a file", fstest.MapFile{Mode: 0o640}, nil, Options{}, file},
		{"a directory", fstest.MapFile{Mode: fs.ModeDir | 0o750}, nil, Options{}, dir},
		{"no file can be written", fstest.MapFile{Mode: 0o777}, nil, Options{},
			with(file, func(a *fuse.Attr) { a.Mode = syscall.S_IFREG | 0o555 })},
		{"nor a directory", fstest.MapFile{Mode: fs.ModeDir | 0o777}, nil, Options{},
			with(dir, func(a *fuse.Attr) { a.Mode = syscall.S_IFDIR | 0o555 })},
		{"no permissions", fstest.MapFile{Mode: 0}, nil, Options{},
			with(file, func(a *fuse.Attr) { a.Mode = syscall.S_IFREG })},
		{"no special bits", fstest.MapFile{Mode: 0o640 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky}, nil, Options{},
			file},
		{"owner, times and allocation of the operating system", fstest.MapFile{Mode: 0o640, Sys: onDisk}, nil,
			Options{},
			with(file, func(a *fuse.Attr) {
				a.Uid, a.Gid, a.Blocks = 1001, 1002, 6
				a.Atime, a.Atimensec, a.Ctime, a.Ctimensec = 1, 2, 3, 4
			})},
		{"a directory of the operating system", fstest.MapFile{Mode: fs.ModeDir | 0o750, Sys: onDisk}, nil, Options{},
			with(dir, func(a *fuse.Attr) {
				a.Uid, a.Gid = 1001, 1002
				a.Atime, a.Atimensec, a.Ctime, a.Ctimensec = 1, 2, 3, 4
			})},
		{"stored in less", fstest.MapFile{Mode: 0o640, Sys: onDisk},
			func(i fs.FileInfo) fs.FileInfo { return stored{i, 513} }, Options{},
			with(file, func(a *fuse.Attr) {
				a.Uid, a.Gid, a.Blocks = 1001, 1002, 2
				a.Atime, a.Atimensec, a.Ctime, a.Ctimensec = 1, 2, 3, 4
			})},
		{"stored in nothing", fstest.MapFile{Mode: 0o640}, func(i fs.FileInfo) fs.FileInfo { return stored{i, 0} },
			Options{},
			with(file, func(a *fuse.Attr) { a.Blocks = 0 })},
		{"a block is whole", fstest.MapFile{Mode: 0o640}, func(i fs.FileInfo) fs.FileInfo { return stored{i, 512} },
			Options{},
			with(file, func(a *fuse.Attr) { a.Blocks = 1 })},

		{"owner of the mount", fstest.MapFile{Mode: 0o640, Sys: &syscall.Stat_t{Uid: 1, Gid: 2}}, nil,
			Options{UID: ptr(uint32(7))},
			with(file, func(a *fuse.Attr) {
				a.Uid, a.Gid, a.Blocks = 7, 2, 0
				a.Atime, a.Atimensec, a.Ctime, a.Ctimensec = 0, 0, 0, 0
			})},
		{"group of the mount", fstest.MapFile{Mode: 0o640}, nil, Options{GID: ptr(uint32(8))},
			with(file, func(a *fuse.Attr) { a.Gid = 8 })},
		{"owner 0", fstest.MapFile{Mode: 0o640, Sys: onDisk}, nil, Options{UID: ptr(uint32(0)), GID: ptr(uint32(0))},
			with(file, func(a *fuse.Attr) {
				a.Blocks = 6
				a.Atime, a.Atimensec, a.Ctime, a.Ctimensec = 1, 2, 3, 4
			})},
		{"umask 0", fstest.MapFile{Mode: 0o600}, nil, Options{Umask: ptr(fs.FileMode(0))},
			with(file, func(a *fuse.Attr) { a.Mode = syscall.S_IFREG | 0o444 })},
		{"umask of a file", fstest.MapFile{Mode: 0o777}, nil, Options{Umask: ptr(fs.FileMode(0o027))},
			with(file, func(a *fuse.Attr) { a.Mode = syscall.S_IFREG | 0o440 })},
		{"umask of a directory", fstest.MapFile{Mode: fs.ModeDir | 0o700}, nil, Options{Umask: ptr(fs.FileMode(0o027))},
			with(dir, func(a *fuse.Attr) { a.Mode = syscall.S_IFDIR | 0o550 })},

		{"a live file keeps its owner and permissions", fstest.MapFile{Mode: 0o400, Sys: onDisk},
			func(i fs.FileInfo) fs.FileInfo { return live{i} },
			Options{UID: ptr(uint32(7)), GID: ptr(uint32(8)), Umask: ptr(fs.FileMode(0))},
			with(file, func(a *fuse.Attr) {
				a.Mode, a.Uid, a.Gid, a.Blocks = syscall.S_IFREG|0o400, 1001, 1002, 6
				a.Atime, a.Atimensec, a.Ctime, a.Ctimensec = 1, 2, 3, 4
			})},
		{"a live directory keeps them, too", fstest.MapFile{Mode: fs.ModeDir | 0o500},
			func(i fs.FileInfo) fs.FileInfo { return live{i} },
			Options{UID: ptr(uint32(7)), GID: ptr(uint32(8)), Umask: ptr(fs.FileMode(0))},
			with(dir, func(a *fuse.Attr) { a.Mode = syscall.S_IFDIR | 0o500 })},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := newSource()
			src.describe["dir/f"] = c.describe
			c.file.ModTime, c.file.Data = modTime, make([]byte, 1000)
			src.MapFS["dir/f"] = &c.file
			s := newSessionWith(t, src, c.options)
			entry := s.entry("dir/f")
			c.want.Ino = entry.Ino
			if entry.Attr != c.want {
				t.Errorf("lookup: got %+v, expected %+v", entry.Attr, c.want)
			}
			if attr, status := s.getattr(nil, entry.NodeId); !status.Ok() || attr != c.want {
				t.Errorf("getattr: got %+v, %v, expected %+v", attr, status, c.want)
			}
			if entry.AttrTimeout() != time.Second || entry.EntryTimeout() != time.Second {
				t.Errorf("the kernel keeps it for %v and %v, expected a second", entry.AttrTimeout(),
					entry.EntryTimeout())
			}
		})
	}
}

func (s *session) getxattr(node uint64, name string, size int) (value []byte, status fuse.Status) {
	value = make([]byte, size)
	n, status := s.nodes.GetXAttr(nil, header(node), name, value)
	return value[:min(n, uint32(size))], status
}

// TestXattrs: attributes of the source are extended attributes; sizes are found without a buffer.
func TestXattrs(t *testing.T) {
	src := newSource("f", "dir/g")
	values := map[string]string{"user.b": "two", "user.a": "", "user.c": "x\x00y"}
	add := func(i fs.FileInfo) fs.FileInfo { return attributed{i, values} }
	src.describe["f"], src.describe["dir"] = add, add
	s := newSession(t, src, nil)
	for _, path := range []string{"f", "dir"} {
		node := s.find(path)
		list := make([]byte, 100)
		n, status := s.nodes.ListXAttr(nil, header(node), list)
		names := strings.Split(strings.TrimSuffix(string(list[:n]), "\x00"), "\x00")
		if !status.Ok() || !slices.Equal(names, []string{"user.a", "user.b", "user.c"}) {
			t.Errorf("%s: listed %q, %v", path, names, status)
		}
		for _, room := range []uint32{0, n - 1} {
			if got, status := s.nodes.ListXAttr(nil, header(node), make([]byte, room)); got != n ||
				status != fuse.Status(syscall.ERANGE) {
				t.Errorf("%s: a list in %d bytes: %d, %v, expected ERANGE and %d", path, room, got, status, n)
			}
		}
		for name, want := range values {
			if got, status := s.getxattr(node, name, len(want)); string(got) != want || !status.Ok() {
				t.Errorf("%s: %s is %q, %v, expected %q", path, name, got, status, want)
			}
			if want == "" {
				continue
			}
			if n, status := s.nodes.GetXAttr(nil, header(node), name, nil); int(n) != len(want) ||
				status != fuse.Status(syscall.ERANGE) {
				t.Errorf("%s: the size of %s is %d, %v, expected ERANGE and %d", path, name, n, status, len(want))
			}
		}
	}
	for _, path := range []string{".", "dir/g"} {
		if n, status := s.nodes.ListXAttr(nil, header(s.find(path)), make([]byte, 100)); n != 0 || !status.Ok() {
			t.Errorf("%s: %d bytes of names, %v", path, n, status)
		}
	}
}

// TestStatfs: names have up to 255 bytes; nothing is free.
func TestStatfs(t *testing.T) {
	var out fuse.StatfsOut
	if status := newSession(t, newSource(), nil).nodes.StatFs(nil, header(fuse.FUSE_ROOT_ID), &out); !status.Ok() {
		t.Fatal(status)
	}
	if want := (fuse.StatfsOut{NameLen: 255, Bsize: 4096, Frsize: 4096}); out != want {
		t.Errorf("got %+v, expected %+v", out, want)
	}
}
