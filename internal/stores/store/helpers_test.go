package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// tree makes a directory "source" with files, links and a FIFO. The directory and the file beside it must not
// be reachable.
func tree(t *testing.T) (d *Dir, path string) {
	t.Helper()
	above := t.TempDir()
	path = filepath.Join(above, "source")
	for _, dir := range []string{path + "/color/1", path + "/empty", above + "/elsewhere"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{path + "/file", path + "/color/1/x0.wkw", above + "/secret",
		above + "/elsewhere/secret"} {
		if err := os.WriteFile(name, []byte("the bytes of "+filepath.Base(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"link": "file", "layer": "color", "deep": "layer/1/x0.wkw", "round": "color/../file",
		"dangling": "nothing", "self": "self", "ping": "pong", "pong": "ping",
		"up": "../secret", "updir": "../elsewhere", "absolute": filepath.Join(above, "secret"),
		"out-and-in": "../source/file",
	} {
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(path, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", filepath.Join(path, "tofifo")); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, path
}

// open opens the file "file" of a scheduled file system.
func open(t *testing.T, fsys fs.FS, o Options) (*Scheduled, fs.File) {
	t.Helper()
	s := Schedule(fsys, o)
	f, err := s.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// makeLate makes the source late.
func makeLate(s *Scheduled) { setLate(s, true) }

// setLate makes the source late or prompt.
func setLate(s *Scheduled, late bool) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	for _, p := range []*lateness{&s.queue.reads.lateness, &s.queue.lookups.lateness} {
		p.isLate.Store(late)
		p.lateRow = 0
	}
}

// apart returns n ranges of size bytes that are too far apart for one request.
func apart(n, size int) []vfs.Range {
	ranges := make([]vfs.Range, n)
	for i := range ranges {
		ranges[i] = vfs.Range{Off: int64(i) * int64(size+maxGap+1), P: make([]byte, size), Err: errors.New("not read")}
	}
	return ranges
}

// checkRanges checks that the ranges were read.
func checkRanges(t *testing.T, ranges []vfs.Range) {
	t.Helper()
	for i, r := range ranges {
		if at := wrong(r); r.Err != nil || at >= 0 {
			t.Fatalf("range %d of %d: %v, wrong at byte %d", i, len(ranges), r.Err, at)
		}
	}
}

// onDisk opens a file of size bytes on disk, scheduled and not.
func onDisk(t testing.TB, size int) (s *Scheduled, scheduled, plain fs.File) {
	t.Helper()
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "file"), make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s = Schedule(d, Options{})
	t.Cleanup(func() { s.Close() })
	for _, f := range []struct {
		fsys fs.FS
		to   *fs.File
	}{{s, &scheduled}, {d, &plain}} {
		if *f.to, err = f.fsys.Open("file"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*f.to).Close() })
	}
	return s, scheduled, plain
}

// checkIdle checks that no request is in flight and no byte is reserved.
func checkIdle(t *testing.T, s *Scheduled) {
	t.Helper()
	if s.Stats().InFlight != 0 || s.queue.reads.waiting.Len()+s.queue.lookups.waiting.Len() != 0 ||
		!s.queue.bytes.TryAcquire(s.queue.most) {
		t.Error("something is in flight")
	}
	s.queue.bytes.Release(s.queue.most)
}
