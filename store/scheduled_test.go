package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/vfs"
)

func TestScheduledConformity(t *testing.T) {
	path := t.TempDir()
	if err := os.MkdirAll(path+"/color/1/z0/y0", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"/color/1/z0/y0/x0.wkw", []byte("WKW"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("color", path+"/layer"); err != nil {
		t.Fatal(err)
	}
	for _, late := range []bool{false, true} {
		d, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s := Schedule(d, Options{})
		if late {
			makeLate(s)
		}
		if err := fstest.TestFS(s, "color/1/z0/y0/x0.wkw", "layer"); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open("color"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after Close: got %v", err)
		}
	}
	memory := Schedule(fstest.MapFS{"a/b": {Data: []byte("bytes")}}, Options{})
	if err := fstest.TestFS(memory, "a/b"); err != nil {
		t.Error(err)
	}
	if err := memory.Close(); err != nil {
		t.Error(err)
	}
}

// TestLinksScheduled: links are asked for as links.
func TestLinksScheduled(t *testing.T) {
	d, _ := tree(t)
	s := Schedule(d, Options{})
	if info, err := s.Lstat("up"); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("got %v, %v, expected a link", info, err)
	}
	if to, err := s.ReadLink("up"); to != "../secret" || err != nil {
		t.Errorf("got %q, %v", to, err)
	}
	for _, name := range []string{"up", "absolute", "updir/secret"} {
		if _, err := s.Stat(name); err == nil {
			t.Errorf("%s: described what lies outside", name)
		}
	}
}

// Files with some of the abilities that callers ask for by type.
type (
	seeking  struct{ patternFile }
	advising struct {
		patternFile
		advice *int
	}
	both struct {
		advising
		io.Seeker
	}
	streaming struct{ fs.File }
)

func (seeking) Seek(int64, int) (int64, error) { return 0, nil }
func (a advising) WillNeed(off, n int64)       { *a.advice++ }

// only is a file system that opens one file, whatever the name.
type only struct{ fs.File }

func (o only) Open(string) (fs.File, error) { return o.File, nil }

// TestAbilities: an open file can do what the file below can do.
func TestAbilities(t *testing.T) {
	advice := 0
	plain := patternFile{size: 10}
	d, _ := tree(t)
	for _, c := range []struct {
		what                    string
		fsys                    fs.FS
		readAt, seeks, advises_ bool
	}{
		{"a stream", only{streaming{plain}}, false, false, false},
		{"a file", only{plain}, true, false, false},
		{"one that seeks", only{seeking{plain}}, true, true, false},
		{"one that takes advice", only{advising{plain, &advice}}, true, false, true},
		{"one that does both", only{both{advising{plain, &advice}, seeking{}}}, true, true, true},
		{"on disk", d, true, true, true},
		{"in memory", fstest.MapFS{"file": {}}, true, true, false},
	} {
		s, f := open(t, c.fsys, Options{})
		_, readerAt := f.(io.ReaderAt)
		_, contextReaderAt := f.(vfs.ContextReaderAt)
		_, rangeReader := f.(vfs.RangeReader)
		_, later := f.(vfs.Later)
		for _, got := range []bool{readerAt, contextReaderAt, rangeReader, later} {
			if got != c.readAt {
				t.Errorf("%s: reads at any offset: %v %v %v %v", c.what, readerAt, contextReaderAt, rangeReader, later)
				break
			}
		}
		if _, seeks := f.(io.Seeker); seeks != c.seeks {
			t.Errorf("%s: seeks: %v", c.what, seeks)
		}
		advisor, advises := f.(vfs.Advisor)
		if advises != c.advises_ {
			t.Errorf("%s: takes advice: %v", c.what, advises)
		}
		if advises && c.fsys != fs.FS(d) {
			before := advice
			advisor.WillNeed(0, 1)
			makeLate(s)
			advisor.WillNeed(0, 1)
			if advice != before+1 {
				t.Errorf("%s: took advice %d times, expected only while the source is prompt", c.what, advice-before)
			}
		}
		if c.fsys != fs.FS(d) {
			continue
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestScheduledStats: what was asked for is counted, and how long it took.
func TestScheduledStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := open(t, &remote{FS: pattern(1 << 20)}, Options{Depth: 10})
		near := func(got, want time.Duration) bool { return got > want*7/8 && got < want*9/8 }
		got := s.Stats()
		if got.Looks.Count != 1 || got.Reads != (Answers{}) || got.Bytes != 0 || got.Depth != 10 || got.Most != 1 || got.Late {
			t.Errorf("opened: got %+v", got)
		}
		if got.InFlight != 0 || got.Oldest != 0 || !near(got.Looks.P50, roundTrip) || !near(got.Looks.P99, roundTrip) {
			t.Errorf("opened: got %+v", got)
		}
		vfs.ReadRanges(t.Context(), f, apart(11, 100))
		if _, err := f.Stat(); err != nil {
			t.Error(err)
		}
		got = s.Stats()
		if got.Reads.Count != 11 || got.Bytes != 1100 || got.Looks.Count != 2 || got.Most != 10 || !got.Late || !near(got.Reads.P99, roundTrip) {
			t.Errorf("read: got %+v", got)
		}
		time.Sleep(2 * time.Minute)
		got = s.Stats()
		if got.Reads != (Answers{Count: 11}) || got.Looks != (Answers{Count: 2}) || !got.Late {
			t.Errorf("minutes later: got %+v", got)
		}
	})
}

// TestScheduledBounds: looks and reads share the slots.
func TestScheduledBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: pattern(1 << 20)}
		s, f := open(t, server, Options{Depth: 5})
		server.forget()
		start := time.Now()
		for range 10 {
			go s.Stat("file")
			go s.ReadDir(".")
			go func() {
				if f, err := s.Open("file"); err == nil {
					f.Close()
				}
			}()
			go f.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
		}
		synctest.Wait()
		for s.Stats().InFlight > 0 {
			time.Sleep(roundTrip)
			synctest.Wait()
		}
		if took := time.Since(start); server.most != 5 || took != 8*roundTrip {
			t.Errorf("%d in flight, %v; expected 5 and %v", server.most, took, 8*roundTrip)
		}
		checkIdle(t, s)
	})
}

// described is what is compared of an entry of a directory.
func described(d vfs.Described) string {
	entry := fmt.Sprintf("%s %v", d.Name(), d.Type())
	if d.Err != nil {
		return fmt.Sprintf("%s fails, absent: %v", entry, errors.Is(d.Err, fs.ErrNotExist))
	}
	return fmt.Sprintf("%s %s %v %d %x", entry, d.Info.Name(), d.Info.Mode(), d.Info.Size(), vfs.VersionOf(d.Info))
}

// byPath is a directory that is asked for each path.
type byPath struct{ d *Dir }

func (p byPath) Open(name string) (fs.File, error)          { return p.d.Open(name) }
func (p byPath) Stat(name string) (fs.FileInfo, error)      { return p.d.Stat(name) }
func (p byPath) ReadDir(name string) ([]fs.DirEntry, error) { return p.d.ReadDir(name) }

// TestDescribe compares it with a listing and looks at each path.
func TestDescribe(t *testing.T) {
	d, path := tree(t)
	following, err := OpenFollowing(path)
	if err != nil {
		t.Fatal(err)
	}
	all := func(string) bool { return true }
	short := func(name string) bool { return len(name) <= 4 }
	for _, c := range []struct {
		what string
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
				got, err := c.fsys.Describe(dir, wanted)
				want, wantErr := vfs.Describe(byPath{c.as}, dir, wanted)
				if err != nil || wantErr != nil {
					t.Errorf("%s, %s: %v, %v", c.what, dir, err, wantErr)
				}
				if len(got) != len(want) {
					t.Fatalf("%s, %s of %s: %d entries, expected %d", c.what, what, dir, len(got), len(want))
				}
				for i := range got {
					if got, want := described(got[i]), described(want[i]); got != want {
						t.Errorf("%s, %s of %s: got %s, expected %s", c.what, what, dir, got, want)
					}
				}
			}
		}
		for _, dir := range []string{"nothing", "file", "fifo", "dangling", "self", "", "..", "/", "color/"} {
			got, err := c.fsys.Describe(dir, all)
			if err == nil || len(got) > 0 {
				t.Errorf("%s, %q: got %v and %v, expected an error", c.what, dir, got, err)
			}
			_, want := c.as.Open(dir)
			if errors.Is(want, fs.ErrNotExist) != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %q: got %v, expected %v", c.what, dir, err, want)
			}
		}
		for _, dir := range []string{"updir", "out-and-in", "up"} {
			if got, err := c.fsys.Describe(dir, all); err == nil && c.as != following {
				t.Errorf("%s, %s: got %v, which lies outside", c.what, dir, got)
			}
		}
	}
}

// TestDescribeVanished: what vanishes between listing and looking is said to be absent.
func TestDescribeVanished(t *testing.T) {
	for _, late := range []bool{false, true} {
		d, path := tree(t)
		s := Schedule(d, Options{})
		if late {
			makeLate(s)
		}
		removed := false
		found, err := s.Describe(".", func(name string) bool {
			if !removed { // it has been listed
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
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"color", "empty", "file", "link"} {
			e := found[i]
			there := i < 2
			if e.Name() != name || (e.Err == nil) != there || there && !e.Info.IsDir() || !there && !errors.Is(e.Err, fs.ErrNotExist) {
				t.Errorf("late %v, %s: got %s, %v, %v", late, name, e.Name(), e.Info, e.Err)
			}
			if e.Name() == "file" && e.Err != nil && e.Err.Error() != "stat file: no such file or directory" {
				t.Errorf("got %v", e.Err)
			}
		}
		checkIdle(t, s)
	}
}

// TestDescribeLate: as many looks as go are in flight once one was late.
func TestDescribeLate(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 1000 {
		files[fmt.Sprintf("dir/x%03d.wkw", i)] = &fstest.MapFile{Data: make([]byte, i)}
	}
	for _, c := range []struct {
		what   string
		before func(*Scheduled)
		depth  int
		takes  time.Duration
		trips  time.Duration
		most   int
	}{
		{"known to be late", makeLate, 100, roundTrip, 1 + 10, 100},
		{"the first look tells", func(*Scheduled) {}, 111, roundTrip, 1 + 1 + 9, 111},
		{"one late look, whatever came before", func(s *Scheduled) { setLate(s, false) }, 999, roundTrip, 1 + 1 + 1, 999},
		{"prompt", func(*Scheduled) {}, 100, time.Microsecond, 1 + 1000, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := &remote{FS: files, takes: func(request) (time.Duration, error) { return c.takes, nil }}
			s := Schedule(server, Options{Depth: c.depth})
			c.before(s)
			start := time.Now()
			found, err := s.Describe("dir", func(string) bool { return true })
			if took := time.Since(start); took != c.trips*c.takes || server.most != c.most || err != nil {
				t.Errorf("%s: %v, %d in flight, %v; expected %v, %d", c.what, took, server.most, err, c.trips*c.takes, c.most)
			}
			for i, d := range found {
				if d.Err != nil || d.Info.Size() != int64(i) || d.Info.Name() != d.Name() {
					t.Fatalf("%s: entry %d: got %v, %v", c.what, i, d, d.Err)
				}
			}
			if len(found) != len(files) {
				t.Errorf("%s: %d entries", c.what, len(found))
			}
			checkIdle(t, s)
		})
	}
}

// listsFaster describes directories in one go, as object stores do.
type listsFaster struct{ *remote }

func (l listsFaster) Describe(dir string, wanted func(string) bool) ([]vfs.Described, error) {
	if err := l.ask(request{op: "list"}); err != nil {
		return nil, err
	}
	return vfs.Describe(l.FS, dir, wanted)
}

// TestDescribeBelow: a store that knows how to describe a directory is asked for that.
func TestDescribeBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &remote{FS: fstest.MapFS{"a": {}, "b": {}, "c": {}}}
		found, err := Schedule(listsFaster{server}, Options{}).Describe(".", func(name string) bool { return name > "a" })
		if len(found) != 2 || err != nil || len(server.requests) != 1 {
			t.Errorf("got %v, %v after %v", found, err, server.requests)
		}
	})
}

// BenchmarkDescribe is what an entry costs on a local disk.
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
		what string
		list func() (int, error)
	}{
		{"list", func() (int, error) { found, err := d.ReadDir("."); return len(found), err }},
		{"by path", func() (int, error) { found, err := vfs.Describe(byPath{d}, ".", all); return len(found), err }},
		{"describe", func() (int, error) { found, err := d.Describe(".", all); return len(found), err }},
		{"scheduled", func() (int, error) { found, err := Schedule(d, Options{}).Describe(".", all); return len(found), err }},
		{"late", func() (int, error) { makeLate(late); found, err := late.Describe(".", all); return len(found), err }},
	} {
		b.Run(c.what, func(b *testing.B) {
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

// TestCloseDoesNotWait: a file is closed at once while a read of it hangs, and in truth when that ends.
func TestCloseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held, closed := make(chan struct{}), make(chan struct{})
		server := &remote{FS: pattern(1 << 20), takes: func(q request) (time.Duration, error) {
			if q.op == "read" {
				<-held
			}
			return 0, nil
		}}
		s := Schedule(waitingFS{server, closed}, Options{})
		f, err := s.Open("file")
		if err != nil {
			t.Fatal(err)
		}
		go f.(io.ReaderAt).ReadAt(make([]byte, 10), 0)
		synctest.Wait()
		start := time.Now()
		if err := f.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		synctest.Wait()
		select {
		case <-closed:
		default:
			t.Error("nobody closes the file")
		}
		close(held)
		time.Sleep(2 * time.Hour)
	})
}

// waitingFS tells when a file is being closed.
type waitingFS struct {
	fs.FS
	closed chan struct{}
}

func (w waitingFS) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	return waitingFile{f.(*remoteFile), w.closed}, err
}

type waitingFile struct {
	*remoteFile
	closed chan struct{}
}

func (w waitingFile) Close() error {
	close(w.closed)
	time.Sleep(time.Hour) // as the operating system waits for reads
	return nil
}
