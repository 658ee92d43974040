package store

import (
	"io"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestLinksScheduled: Lstat and ReadLink describe links.
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
			t.Errorf("%s: described a file outside", name)
		}
	}
}

// TestScheduledStats: requests are counted and timed.
func TestScheduledStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := open(t, &remote{FS: pattern(1 << 20)}, Options{Depth: 10})
		near := func(got, want time.Duration) bool { return got > want*7/8 && got < want*9/8 }
		got := s.Stats()
		if got.Lookups.Count != 1 || got.Reads != (Answers{}) || got.Bytes != 0 || got.Depth != 10 ||
			got.MostInFlight != 1 || got.Late {
			t.Errorf("opened: got %+v", got)
		}
		if got.InFlight != 0 || got.LongestWait != 0 || !near(got.Lookups.P50, roundTrip) ||
			!near(got.Lookups.P99, roundTrip) {
			t.Errorf("opened: got %+v", got)
		}
		vfs.ReadRanges(t.Context(), f, apart(11, 100))
		if _, err := f.Stat(); err != nil {
			t.Error(err)
		}
		got = s.Stats()
		if got.Reads.Count != 11 || got.Bytes != 1100 || got.Lookups.Count != 2 || got.MostInFlight != 10 ||
			!got.Late || !near(got.Reads.P99, roundTrip) {
			t.Errorf("read: got %+v", got)
		}
		time.Sleep(2 * time.Minute)
		got = s.Stats()
		if got.Reads != (Answers{Count: 11}) || got.Lookups != (Answers{Count: 2}) || !got.Late {
			t.Errorf("minutes later: got %+v", got)
		}
	})
}

// TestScheduledBounds: lookups have as many slots as reads.
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
		if took := time.Since(start); server.most != 2*5 || took != 6*roundTrip {
			t.Errorf("%d in flight, %v; expected 10 and %v", server.most, took, 6*roundTrip)
		}
		checkIdle(t, s)
	})
}
