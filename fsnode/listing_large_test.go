//go:build linux

package fsnode

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// large is a directory "dir" of n files, and counts how often it is open.
type large struct {
	*voxeltest.Many
	open atomic.Int32
}

func newLarge(n int) *large {
	return &large{Many: &voxeltest.Many{
		Dir: "dir", N: n,
		Name: func(i int) string { return fmt.Sprintf("f%d", i) },
		Number: func(name string) int {
			i, ok := volume.ParseIndex(strings.TrimPrefix(name, "f"))
			if !ok {
				return -1
			}
			return i
		},
	}}
}

func (l *large) Open(name string) (fs.File, error) {
	f, err := l.Many.Open(name)
	if dir, ok := f.(fs.ReadDirFile); ok {
		l.open.Add(1)
		return countedDir{dir, l}, err
	}
	return f, err
}

type countedDir struct {
	fs.ReadDirFile
	of *large
}

func (d countedDir) Close() error { d.of.open.Add(-1); return nil }

// names returns ".", ".." and the names in the order of the listing.
func (l *large) names(t *testing.T) []string {
	t.Helper()
	all := []string{".", ".."}
	for batch, err := range vfs.List(l, "dir") {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			all = append(all, e.Name())
		}
	}
	return all
}

// TestListingOfLarge: a directory of more entries than a listing holds is listed from end to end, and from every offset
// that it returned before, in any order. Then the source has no open directory.
func TestListingOfLarge(t *testing.T) {
	const n = 2*vfs.BatchSize + 1000
	src := newLarge(n)
	want := src.names(t)
	s := newSession(t, src, nil)
	if got := namesOf(s.listAll("dir", 4096)); len(want) != n+2 || !slices.Equal(got, want) {
		t.Fatalf("%d names, expected %d", len(got), len(want))
	}
	dir := s.find("dir")
	handle, _ := s.opendir(nil, dir)
	for _, off := range []int{vfs.BatchSize + 7, 0, n + 1, n + 2, 3, 2*vfs.BatchSize + 2, 2 * vfs.BatchSize, 1,
		vfs.BatchSize + 2, n} {
		entries, status := s.list(dir, handle, uint64(off), 200)
		got := namesOf(entries)
		if !status.Ok() || len(got) == 0 != (off == len(want)) || !slices.Equal(got, want[off:off+len(got)]) {
			t.Errorf("from %d: got %v, %v, expected %v", off, got, status, want[off:min(off+len(got), len(want))])
		}
	}
	for _, off := range []uint64{uint64(len(want)) + 1, 1 << 63} {
		if entries, status := s.list(dir, handle, off, 200); status != fuse.EINVAL {
			t.Errorf("from %d: got %v, %v, expected EINVAL", off, namesOf(entries), status)
		}
	}
	if _, status := s.list(dir, handle, 5, 200); !status.Ok() || src.open.Load() != 1 {
		t.Errorf("%v, the directory is open %d times", status, src.open.Load())
	}
	s.nodes.ReleaseDir(&fuse.ReleaseIn{InHeader: *header(dir), Fh: handle})
	if open := src.open.Load(); open != 0 {
		t.Errorf("the directory is open %d times", open)
	}
}

// TestListingTakesNoMemory: an open directory takes the memory of some thousand entries.
func TestListingTakesNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs: it takes long, and its goroutines are those of other tests")
	}
	const limit = 100 << 20
	n := voxeltest.Large(2_000_000)
	s := newSessionWith(t, newLarge(n), Options{AnswersAtOnce: func() bool { return true }})
	dir := s.find("dir")
	listed := 0
	peak := voxeltest.PeakHeap(func() {
		handle, _ := s.opendir(nil, dir)
		for off := uint64(0); ; {
			entries, status := s.list(dir, handle, off, 128<<10)
			if !status.Ok() {
				t.Fatal(status)
			}
			if len(entries) == 0 {
				return
			}
			listed, off = listed+len(entries), entries[len(entries)-1].Off
		}
	})
	if listed != n+2 || peak > limit {
		t.Errorf("%d entries with %d MiB, want %d with at most %d", listed, peak>>20, n+2, limit>>20)
	}
}

// TestLargeListingCanBeAbandoned: if the source does not answer in the middle of a listing, the reader can be killed. A
// later request lists on, and the source has no open directory at the end.
func TestLargeListingCanBeAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newLarge(2 * vfs.BatchSize)
		want := src.names(t)
		s := newSession(t, src, nil)
		dir := s.find("dir")
		handle, _ := s.opendir(nil, dir)
		off := uint64(vfs.BatchSize + 2) // the first entry that has to be listed
		hangs, release := atomic.Bool{}, make(chan struct{})
		hangs.Store(true)
		src.Listed = func(first, _ int) {
			if first > 0 && hangs.Load() {
				<-release
			}
		}
		cancel, ended := make(chan struct{}), make(chan fuse.Status, 1)
		go func() {
			out := fuse.NewDirEntryList(make([]byte, 200), off)
			ended <- s.nodes.ReadDir(cancel, &fuse.ReadIn{InHeader: *header(dir), Fh: handle, Offset: off, Size: 200},
				out)
		}()
		time.Sleep(time.Hour)
		if len(ended) > 0 {
			t.Fatal("the request did not wait for the source")
		}
		close(cancel)
		if status := <-ended; status != eintr {
			t.Errorf("got %v", status)
		}
		hangs.Store(false)
		entries, status := s.list(dir, handle, off, 200)
		if got := namesOf(entries); !status.Ok() || len(got) == 0 || !slices.Equal(got, want[off:int(off)+len(got)]) {
			t.Errorf("got %v, %v", got, status)
		}
		close(release)
		s.nodes.ReleaseDir(&fuse.ReleaseIn{InHeader: *header(dir), Fh: handle})
		synctest.Wait()
		if open := src.open.Load(); open != 0 {
			t.Errorf("the directory is open %d times", open)
		}
		time.Sleep(time.Minute) // timers end
	})
}
