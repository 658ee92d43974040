package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// described is a file info of which everything that matters can be chosen.
type described struct {
	fs.FileInfo
	size int64
	time time.Time
	sys  any
}

func (d described) Size() int64        { return d.size }
func (d described) ModTime() time.Time { return d.time }
func (d described) Sys() any           { return d.sys }

// says is a file info that knows its version and what it takes.
type says struct {
	described
	version Version
	stored  int64
}

func (s says) Version() Version { return s.version }
func (s says) Stored() int64    { return s.stored }

func TestVersionOf(t *testing.T) {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 1, time.UTC)
	plain := func(change func(*described, *syscall.Stat_t)) Version {
		st := syscall.Stat_t{Dev: 1, Ino: 2, Size: 3, Ctim: syscall.Timespec{Sec: 4, Nsec: 5}}
		d := described{size: 3, time: noon}
		change(&d, &st)
		if d.sys == nil {
			d.sys = &st
		}
		return VersionOf(d)
	}
	seen := map[Version]string{}
	for _, c := range []struct {
		what   string
		change func(*described, *syscall.Stat_t)
	}{
		{"nothing", func(*described, *syscall.Stat_t) {}},
		{"size", func(d *described, _ *syscall.Stat_t) { d.size++ }},
		{"time, by a nanosecond", func(d *described, _ *syscall.Stat_t) { d.time = noon.Add(1) }},
		{"device", func(_ *described, st *syscall.Stat_t) { st.Dev++ }},
		{"inode", func(_ *described, st *syscall.Stat_t) { st.Ino++ }},
		{"device and inode exchanged", func(_ *described, st *syscall.Stat_t) { st.Dev, st.Ino = st.Ino, st.Dev }},
		{"stored size", func(_ *described, st *syscall.Stat_t) { st.Size++ }},
		{"change time", func(_ *described, st *syscall.Stat_t) { st.Ctim.Sec++ }},
		{"change time, by a nanosecond", func(_ *described, st *syscall.Stat_t) { st.Ctim.Nsec++ }},
		{"no operating system", func(d *described, _ *syscall.Stat_t) { d.sys = "none" }},
	} {
		v := plain(c.change)
		if other, ok := seen[v]; ok {
			t.Errorf("%s: the same version as %s", c.what, other)
		}
		if seen[v] = c.what; v != plain(c.change) {
			t.Errorf("%s: another version the second time", c.what)
		}
		if v.Uint64() == 0 {
			t.Errorf("%s: folded into 0", c.what)
		}
	}
	own := Version{0x15, 2, 3}
	if got := VersionOf(says{version: own}); got != own || got.Uint64() != 0x030215 {
		t.Errorf("got %v, %#x, expected what the file says itself", got, got.Uint64())
	}
}

// TestVersionOfFile follows a file on disk through what may happen to it.
func TestVersionOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x0.wkw")
	write := func(content string, at time.Time) Version {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return VersionOf(info)
	}
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	first := write("123", noon)
	if longer := write("1234", noon); longer == first {
		t.Error("size changed, version did not")
	}
	if later := write("123", noon.Add(time.Second)); later == first {
		t.Error("time changed, version did not")
	}
	if err := os.Rename(path, path+".old"); err != nil { // so that the inode is taken
		t.Fatal(err)
	}
	if other := write("123", noon); other == first {
		t.Error("inode changed, version did not")
	}
}

func TestStoredOf(t *testing.T) {
	for _, c := range []struct {
		what string
		info fs.FileInfo
		want int64
	}{
		{"says itself", says{described: described{size: 1}, stored: 77}, 77},
		{"allocated", described{size: 1, sys: &syscall.Stat_t{Blocks: 8}}, 4096},
		{"a hole", described{size: 1 << 30, sys: &syscall.Stat_t{}}, 0},
		{"nothing known", described{size: 5}, 5},
	} {
		if got := StoredOf(c.info); got != c.want {
			t.Errorf("%s: got %d, expected %d", c.what, got, c.want)
		}
	}
}

// live is a file info that says whether it is.
type live struct {
	described
	says bool
}

func (l live) Live() bool { return l.says }

func TestIsLive(t *testing.T) {
	for _, c := range []struct {
		what string
		info fs.FileInfo
		want bool
	}{
		{"says so", live{says: true}, true},
		{"says not", live{}, false},
		{"does not say", described{}, false},
	} {
		if got := IsLive(c.info); got != c.want {
			t.Errorf("%s: got %v", c.what, got)
		}
	}
}

func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x0.wkw")
	for _, c := range []struct {
		what    string
		happens func() error
		changed bool
	}{
		{"nothing", func() error { return nil }, false},
		{"removed", func() error { return os.Remove(path) }, false},
		{"another mode", func() error { return os.Chmod(path, 0o600) }, false},
		{"replaced", func() error {
			if err := os.WriteFile(path+".new", []byte("other bytes"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, false},
		{"truncated", func() error { return os.Truncate(path, 1) }, true},
		{"touched", func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) }, true},
		{"longer, of the same time", func() error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("more bytes"), 0o644); err != nil {
				return err
			}
			return os.Chtimes(path, time.Time{}, info.ModTime())
		}, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			if err := os.WriteFile(path, []byte("bytes"), 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.happens(); err != nil {
				t.Fatal(err)
			}
			if err := Unchanged(f, info); errors.Is(err, ErrChanged) != c.changed || (err == nil) == c.changed {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnchangedClosed(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := Unchanged(f, described{}); !errors.Is(err, fs.ErrClosed) || errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}

// withContext is a file that is read with a context.
type withContext struct{ fs.File }

func (withContext) ReadAtContext(ctx context.Context, p []byte, _ int64) (int, error) {
	return copy(p, "context"), ctx.Err()
}

// plainFile has no ReadAt.
type plainFile struct{ fs.File }

func TestReadAt(t *testing.T) {
	f, err := (fstest.MapFS{"f": {Data: []byte("0123456789")}}).Open("f")
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		what string
		ctx  context.Context
		f    fs.File
		want string
		err  error
	}{
		{"at any offset", t.Context(), f, "34567", nil},
		{"with a context", t.Context(), withContext{f}, "conte", nil},
		{"given up", cancelled, withContext{f}, "conte", context.Canceled},
		{"in order only", t.Context(), plainFile{f}, "", fs.ErrInvalid},
	} {
		p := make([]byte, 5)
		n, err := ReadAt(c.ctx, c.f, p, 3)
		if string(p[:n]) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: got %q, %v", c.what, p[:n], err)
		}
	}
	if _, err := ReadAt(t.Context(), f, make([]byte, 5), 8); err != io.EOF {
		t.Errorf("past the end: got %v", err)
	}
	if _, err := ReadAt(t.Context(), plainFile{f}, nil, 0); err == nil || !strings.HasPrefix(err.Error(), "readat") {
		t.Errorf("got %v", err)
	}
}
