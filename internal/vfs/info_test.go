package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// fakeInfo is a file info with a size, a time and a Sys of choice.
type fakeInfo struct {
	fs.FileInfo
	size int64
	time time.Time
	sys  any
}

func (d fakeInfo) Size() int64        { return d.size }
func (d fakeInfo) ModTime() time.Time { return d.time }
func (d fakeInfo) Sys() any           { return d.sys }

// ableInfo is a file info that knows its version and its stored size.
type ableInfo struct {
	fakeInfo
	version Version
	stored  int64
}

func (s ableInfo) Details() Details {
	return Details{Version: func() Version { return s.version }, Stored: func() int64 { return s.stored }}
}

func changeTime(st *syscall.Stat_t) *syscall.Timespec {
	_, _, change := StatTimes(st)
	return change
}

func TestVersionOf(t *testing.T) {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 1, time.UTC)
	plain := func(change func(*fakeInfo, *syscall.Stat_t)) Version {
		st := syscall.Stat_t{Dev: 1, Ino: 2, Size: 3}
		*changeTime(&st) = syscall.Timespec{Sec: 4, Nsec: 5}
		d := fakeInfo{size: 3, time: noon}
		change(&d, &st)
		if d.sys == nil {
			d.sys = &st
		}
		return VersionOf(d)
	}
	seen := map[Version]string{}
	for _, c := range []struct {
		name   string
		change func(*fakeInfo, *syscall.Stat_t)
	}{
		{"nothing", func(*fakeInfo, *syscall.Stat_t) {}},
		{"size", func(d *fakeInfo, _ *syscall.Stat_t) { d.size++ }},
		{"time, by a nanosecond", func(d *fakeInfo, _ *syscall.Stat_t) { d.time = noon.Add(1) }},
		{"device", func(_ *fakeInfo, st *syscall.Stat_t) { st.Dev++ }},
		{"inode", func(_ *fakeInfo, st *syscall.Stat_t) { st.Ino++ }},
		{"device and inode exchanged", func(_ *fakeInfo, st *syscall.Stat_t) { st.Dev, st.Ino = 2, 1 }},
		{"stored size", func(_ *fakeInfo, st *syscall.Stat_t) { st.Size++ }},
		{"change time", func(_ *fakeInfo, st *syscall.Stat_t) { changeTime(st).Sec++ }},
		{"change time, by a nanosecond", func(_ *fakeInfo, st *syscall.Stat_t) { changeTime(st).Nsec++ }},
		{"no Stat_t", func(d *fakeInfo, _ *syscall.Stat_t) { d.sys = "none" }},
	} {
		v := plain(c.change)
		if other, ok := seen[v]; ok {
			t.Errorf("%s: the same version as %s", c.name, other)
		}
		if seen[v] = c.name; v != plain(c.change) {
			t.Errorf("%s: another version the second time", c.name)
		}
		if v.Uint64() == 0 {
			t.Errorf("%s: folded into 0", c.name)
		}
	}
	own := Version{0x15, 2, 3}
	if got := VersionOf(ableInfo{version: own}); got != own || got.Uint64() != 0x030215 {
		t.Errorf("got %v, %#x, expected the version of the file info", got, got.Uint64())
	}
}

// TestVersionOfFile changes a file on disk in several ways. Each changes its version.
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
	if err := os.Rename(path, path+".old"); err != nil { // so that the new file has another inode
		t.Fatal(err)
	}
	if other := write("123", noon); other == first {
		t.Error("inode changed, version did not")
	}
}

func TestStoredOf(t *testing.T) {
	for _, c := range []struct {
		name string
		info fs.FileInfo
		want int64
	}{
		{"stored size known", ableInfo{fakeInfo: fakeInfo{size: 1}, stored: 77}, 77},
		{"allocated", fakeInfo{size: 1, sys: &syscall.Stat_t{Blocks: 8}}, 4096},
		{"a hole", fakeInfo{size: 1 << 30, sys: &syscall.Stat_t{}}, 0},
		{"no Stat_t", fakeInfo{size: 5}, 5},
	} {
		if got := StoredOf(c.info); got != c.want {
			t.Errorf("%s: got %d, expected %d", c.name, got, c.want)
		}
	}
}

func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x0.wkw")
	for _, c := range []struct {
		name    string
		change  func() error
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
		t.Run(c.name, func(t *testing.T) {
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
			if err := c.change(); err != nil {
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
	if err := Unchanged(f, fakeInfo{}); !errors.Is(err, fs.ErrClosed) || errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}
