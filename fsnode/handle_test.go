//go:build linux

package fsnode

import (
	"io/fs"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestOpenFlags: the page cache keeps the bytes of a file from one open to the next, but not those of a live
// file.
func TestOpenFlags(t *testing.T) {
	for _, c := range []struct {
		name  string
		add   func(fs.FileInfo) fs.FileInfo
		flags uint32
		reads int // that the observer gets
	}{
		{"file", nil, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH, 1},
		{"live file", func(i fs.FileInfo) fs.FileInfo { return live{i} }, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, seen := newSource("f"), new(reads)
			src.describe["f"] = c.add
			s := newSessionWith(t, src, Options{Observer: seen})
			node := s.find("f")
			var out fuse.OpenOut
			if status := s.nodes.Open(nil, &fuse.OpenIn{InHeader: *header(node)}, &out); !status.Ok() ||
				out.OpenFlags != c.flags {
				t.Errorf("%v, flags %#x, expected %#x", status, out.OpenFlags, c.flags)
			}
			if p, status := s.read(nil, node, out.Fh); string(p) != "f" || !status.Ok() {
				t.Errorf("read %q, %v", p, status)
			}
			if seen.n != c.reads {
				t.Errorf("the observer got %d reads, expected %d", seen.n, c.reads)
			}
		})
	}
}

// TestReadOnce: the first reader of a large file that is usually read once bypasses the page cache, and gets no sink.
// Later readers do not bypass it, nor do readers of other files, nor does any reader if the kernel could not map such a
// file.
func TestReadOnce(t *testing.T) {
	const direct, cached = fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH
	for _, c := range []struct {
		name       string
		size       int
		once, maps bool
		flags      uint32 // of the first open
	}{
		{"large", leastOnce + 1, true, true, direct},
		{"small", leastOnce, true, true, cached},
		{"read more than once", leastOnce + 1, false, true, cached},
		{"cannot be mapped", leastOnce + 1, true, false, cached},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sinks []vfs.Sink
			src := newSource("f")
			src.MapFS["f"].Data = make([]byte, c.size)
			src.file = func(f fs.File) fs.File { return readingOnce{pushing{f.(*sourceFile), &sinks}, c.once} }
			s := newSession(t, src, nil)
			s.mount.mapsDirect.Store(c.maps)
			node := s.find("f")
			for i, want := range []uint32{c.flags, cached} {
				var out fuse.OpenOut
				if status := s.nodes.Open(nil, &fuse.OpenIn{InHeader: *header(node)}, &out); !status.Ok() ||
					out.OpenFlags != want {
					t.Errorf("open %d: %v, flags %#x, expected %#x", i, status, out.OpenFlags, want)
				}
			}
			if want := map[uint32]int{direct: 1, cached: 2}[c.flags]; len(sinks) != want {
				t.Errorf("got %d sinks, expected %d", len(sinks), want)
			}
		})
	}
}

// readingOnce is a file whose ReadOnce returns once.
type readingOnce struct {
	pushing
	once bool
}

func (r readingOnce) ReadOnce() bool { return r.once }

// reads counts reads. It implements Observer.
type reads struct {
	noObserver
	n int
}

func (r *reads) Read(string, int64, int, time.Duration) { r.n++ }

// TestPush: an open file gets a sink for whole pages, unless its bytes do not go through the page cache.
func TestPush(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags uint32
		add   func(fs.FileInfo) fs.FileInfo
		want  int
	}{
		{"file", 0, nil, 1},
		{"direct", syscall.O_DIRECT, nil, 0},
		{"live file", 0, func(i fs.FileInfo) fs.FileInfo { return live{i} }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sinks []vfs.Sink
			src := newSource("f")
			src.describe["f"] = c.add
			src.file = func(f fs.File) fs.File { return pushing{f.(*sourceFile), &sinks} }
			s := newSession(t, src, nil)
			in := &fuse.OpenIn{InHeader: *header(s.find("f")), Flags: c.flags}
			if status := s.nodes.Open(nil, in, new(fuse.OpenOut)); !status.Ok() {
				t.Fatal(status)
			}
			if len(sinks) != c.want {
				t.Errorf("got %d sinks, expected %d", len(sinks), c.want)
			}
			for _, to := range sinks {
				if !to.All || to.Page != 4096 || to.Piece%to.Page != 0 || to.Write == nil {
					t.Errorf("got %+v", to)
				}
			}
		})
	}
}

// TestHoles: SEEK_DATA and SEEK_HOLE find the start of the next data and of the next hole. A file that does
// not know its holes has none.
func TestHoles(t *testing.T) {
	const data, hole = unix.SEEK_DATA, unix.SEEK_HOLE
	const none = 1 << 62 // ENXIO
	for _, c := range []struct {
		name   string
		file   func(fs.File) fs.File
		off    uint64
		whence uint32
		want   uint64
	}{
		{"no holes known: data at the start", nil, 0, data, 0},
		{"no holes known: data at the last byte", nil, 99, data, 99},
		{"no holes known: the end is a hole", nil, 0, hole, 100},
		{"no holes known: after the end", nil, 100, hole, none},
		{"data after a hole", parts, 0, data, 10},
		{"data at its start", parts, 10, data, 10},
		{"data inside", parts, 19, data, 19},
		{"data after data", parts, 20, data, 40},
		{"data after the last", parts, 60, data, none},
		{"hole at the start", parts, 0, hole, 0},
		{"hole after data", parts, 10, hole, 20},
		{"hole inside", parts, 30, hole, 30},
		{"the last hole", parts, 99, hole, 99},
		{"after the end", parts, 100, data, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := newSource()
			src.MapFS["f"] = &fstest.MapFile{Data: make([]byte, 100)}
			src.file = c.file
			s := newSession(t, src, nil)
			file := s.find("f")
			handle, _ := s.open(nil, file)
			defer s.release(file, handle)
			got, status := s.lseek(nil, file, handle, c.off, c.whence)
			if c.want == none {
				if status != fuse.Status(syscall.ENXIO) {
					t.Errorf("got %d, %v, expected ENXIO", got, status)
				}
			} else if got != c.want || !status.Ok() {
				t.Errorf("got %d, %v, expected %d", got, status, c.want)
			}
		})
	}
}

// parts adds holes to a file of 100 bytes.
func parts(f fs.File) fs.File { return sparse{f.(*sourceFile), [][2]int64{{10, 20}, {40, 60}}} }
