package store

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// format returns all that tests compare of an entry.
func format(d vfs.Described) string {
	entry := fmt.Sprintf("%s %v", d.Name(), d.Type())
	if d.Err != nil {
		return fmt.Sprintf("%s fails, absent: %v", entry, errors.Is(d.Err, fs.ErrNotExist))
	}
	return fmt.Sprintf("%s %s %v %d %x", entry, d.Info.Name(), d.Info.Mode(), d.Info.Size(), vfs.VersionOf(d.Info))
}

// collect returns all entries of a description.
func collect(batches iter.Seq2[[]vfs.Described, error]) (all []vfs.Described, err error) {
	for batch, err := range batches {
		if all = append(all, batch...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// byPath is a directory without Describe.
type byPath struct{ d *Dir }

func (p byPath) Open(name string) (fs.File, error) { return p.d.Open(name) }

func (p byPath) Stat(name string) (fs.FileInfo, error) { return p.d.Stat(name) }

func (p byPath) ReadDir(name string) ([]fs.DirEntry, error) { return p.d.ReadDir(name) }

// TestDescribe compares Describe with a listing and a stat of each path.
func TestDescribe(t *testing.T) {
	d, path := tree(t)
	following, err := OpenFollowing(path)
	if err != nil {
		t.Fatal(err)
	}
	all := func(string) bool { return true }
	short := func(name string) bool { return len(name) <= 4 }
	for _, c := range []struct {
		name string
		fsys vfs.DescribeFS
		as   *Dir
		late bool
	}{
		{"confined", d, d, false},
		{"following", following, following, false},
		{"scheduled", Schedule(d, Options{}), d, false},
		{"scheduled, late", Schedule(d, Options{}), d, true},
		{"scheduled, one at a time", Schedule(d, Options{Depth: 1}), d, true},
		{"scheduled following", Schedule(following, Options{}), following, true},
		{"scheduled, by path", Schedule(byPath{d}, Options{}), d, true},
	} {
		for _, dir := range []string{".", "color", "layer", "color/1", "layer/1", "empty"} {
			for what, wanted := range map[string]func(string) bool{"all": all, "short names": short} {
				if s, ok := c.fsys.(*Scheduled); ok && c.late {
					makeLate(s)
				}
				got, err := collect(c.fsys.Describe(dir, wanted))
				want, wantErr := collect(vfs.Describe(byPath{c.as}, dir, wanted))
				if err != nil || wantErr != nil {
					t.Errorf("%s, %s: %v, %v", c.name, dir, err, wantErr)
				}
				if len(got) != len(want) {
					t.Fatalf("%s, %s of %s: %d entries, expected %d", c.name, what, dir, len(got), len(want))
				}
				for i := range got {
					if got, want := format(got[i]), format(want[i]); got != want {
						t.Errorf("%s, %s of %s: got %s, expected %s", c.name, what, dir, got, want)
					}
				}
			}
		}
		for _, dir := range []string{"nothing", "file", "fifo", "dangling", "self", "", "..", "/", "color/"} {
			got, err := collect(c.fsys.Describe(dir, all))
			if err == nil || len(got) > 0 {
				t.Errorf("%s, %q: got %v and %v, expected an error", c.name, dir, got, err)
			}
			_, want := c.as.Open(dir)
			if errors.Is(want, fs.ErrNotExist) != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %q: got %v, expected %v", c.name, dir, err, want)
			}
		}
		for _, dir := range []string{"updir", "out-and-in", "up"} {
			if got, err := collect(c.fsys.Describe(dir, all)); err == nil && c.as != following {
				t.Errorf("%s, %s: got %v, which is outside", c.name, dir, got)
			}
		}
	}
}

// TestDescribeRemoved: the error of an entry that was removed after the listing is fs.ErrNotExist.
func TestDescribeRemoved(t *testing.T) {
	for _, late := range []bool{false, true} {
		d, path := tree(t)
		s := Schedule(d, Options{})
		if late {
			makeLate(s)
		}
		removed := false
		found, err := collect(s.Describe(".", func(name string) bool {
			if !removed { // after the listing
				removed = true
				for _, name := range []string{"file", "color/1/x0.wkw"} {
					if err := os.Remove(path + "/" + name); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Remove(path + "/empty"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("color", path+"/empty"); err != nil { // now a link to a directory
					t.Fatal(err)
				}
			}
			return name == "file" || name == "color" || name == "link" || name == "empty"
		}))
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"color", "empty", "file", "link"} {
			e := found[i]
			there := i < 2
			if e.Name() != name || (e.Err == nil) != there || there && !e.Info.IsDir() ||
				!there && !errors.Is(e.Err, fs.ErrNotExist) {
				t.Errorf("late %v, %s: got %s, %v, %v", late, name, e.Name(), e.Info, e.Err)
			}
			if e.Name() == "file" && e.Err != nil && e.Err.Error() != "stat file: no such file or directory" {
				t.Errorf("got %v", e.Err)
			}
		}
		checkIdle(t, s)
	}
}

// TestDescribeLate: after one late answer, as many lookups as allowed are in flight.
func TestDescribeLate(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 1000 {
		files[fmt.Sprintf("dir/x%03d.wkw", i)] = &fstest.MapFile{Data: make([]byte, i)}
	}
	for _, c := range []struct {
		name   string
		before func(*Scheduled)
		depth  int
		takes  time.Duration
		trips  time.Duration
		most   int
	}{
		{"late from the start", makeLate, 100, roundTrip, 1 + 10, 100},
		{"the first answer is late", func(*Scheduled) {}, 111, roundTrip, 1 + 1 + 9, 111},
		{"one late answer of a prompt source", func(s *Scheduled) { setLate(s, false) }, 999, roundTrip, 1 + 1 + 1,
			999},
		{"prompt", func(*Scheduled) {}, 100, time.Microsecond, 1 + 1000, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &remote{FS: files, takes: func(request) (time.Duration, error) { return c.takes, nil }}
			s := Schedule(server, Options{Depth: c.depth})
			c.before(s)
			start := time.Now()
			found, err := collect(s.Describe("dir", func(string) bool { return true }))
			if took := time.Since(start); took != c.trips*c.takes || server.most != c.most || err != nil {
				t.Errorf("%s: %v, %d in flight, %v; expected %v, %d", c.name, took, server.most, err, c.trips*c.takes,
					c.most)
			}
			for i, d := range found {
				if d.Err != nil || d.Info.Size() != int64(i) || d.Info.Name() != d.Name() {
					t.Fatalf("%s: entry %d: got %v, %v", c.name, i, d, d.Err)
				}
			}
			if len(found) != len(files) {
				t.Errorf("%s: %d entries", c.name, len(found))
			}
			checkIdle(t, s)
		})
	}
}

// describes describes a directory in one request, as an object store does.
type describes struct{ *remote }

func (l describes) Describe(dir string, wanted func(string) bool) iter.Seq2[[]vfs.Described, error] {
	return func(yield func([]vfs.Described, error) bool) {
		if err := l.answer(request{op: "list"}); err != nil {
			yield(nil, err)
			return
		}
		vfs.Describe(l.FS, dir, wanted)(yield)
	}
}

// TestDescribeOfSource: Describe of the source is used if it has one.
func TestDescribeOfSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: fstest.MapFS{"a": {}, "b": {}, "c": {}}}
		found, err := collect(Schedule(describes{server}, Options{}).Describe(".",
			func(name string) bool { return name > "a" }))
		if len(found) != 2 || err != nil || len(server.requests) != 1 {
			t.Errorf("got %v, %v after %v", found, err, server.requests)
		}
	})
}

// BenchmarkDescribe measures the time of an entry on a local disk.
func BenchmarkDescribe(b *testing.B) {
	path := b.TempDir()
	const n = 1000
	for i := range n {
		if err := os.WriteFile(fmt.Sprintf("%s/x%d.wkw", path, i), nil, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	d, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	all := func(string) bool { return true }
	late := Schedule(d, Options{})
	for _, c := range []struct {
		name string
		list func() (int, error)
	}{
		{"list", func() (int, error) { found, err := d.ReadDir("."); return len(found), err }},
		{"by path",
			func() (int, error) { found, err := collect(vfs.Describe(byPath{d}, ".", all)); return len(found), err }},
		{"describe", func() (int, error) { found, err := collect(d.Describe(".", all)); return len(found), err }},
		{"scheduled", func() (int, error) {
			found, err := collect(Schedule(d, Options{}).Describe(".", all))
			return len(found), err
		}},
		{"late", func() (int, error) {
			makeLate(late)
			found, err := collect(late.Describe(".", all))
			return len(found), err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if found, err := c.list(); found != n || err != nil {
					b.Fatal(found, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
		})
	}
}
