package fsnode

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// rootTime asks for the attributes of the root, and returns its time and how long that took.
func rootTime(t *testing.T, s *session) (at time.Time, took time.Duration) {
	t.Helper()
	start := time.Now()
	attr, status := s.getattr(nil, fuse.FUSE_ROOT_ID)
	if !status.Ok() {
		t.Fatalf("the root: %v", status)
	}
	return time.Unix(int64(attr.Mtime), int64(attr.Mtimensec)).UTC(), time.Since(start)
}

// TestRootDoesNotWait: the attributes of the root are as they are now; if the source does not answer, as they were. It is
// asked once until it does.
func TestRootDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newHanging()
		old, now := time.Unix(1e9, 0).UTC(), time.Unix(2e9, 0).UTC()
		change := func(at time.Time) { source.MapFS["."] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: at} }
		change(old)
		s := newSession(t, source, nil)
		change(now)
		if at, took := rootTime(t, s); at != now || took != 0 {
			t.Errorf("the source answers: %v after %v, want %v at once", at, took, now)
		}
		change(old)
		release := source.hang(kindStat)
		for _, want := range []time.Duration{rootPatience, 0, 0} {
			if at, took := rootTime(t, s); at != now || took != want {
				t.Errorf("the source hangs: %v after %v, want %v after %v", at, took, now, want)
			}
		}
		s.find("live/tells")
		if n := source.calls.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		release()
		synctest.Wait()
		if at, took := rootTime(t, s); at != old || took != 0 {
			t.Errorf("the source is back: %v after %v, want %v at once", at, took, old)
		}
	})
}

// TestRootIsLate: an answer that takes longer than a request waits is there for the next one.
func TestRootIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := root{failed: func(err error) { t.Error(err) }}
		r.stat = func() (fs.FileInfo, error) {
			time.Sleep(rootPatience + time.Millisecond)
			return newHanging().MapFS.Stat("dir")
		}
		if info := r.get(); info != nil {
			t.Errorf("got %v", info)
		}
		time.Sleep(time.Second)
		if info := r.get(); info == nil {
			t.Error("the answer to the first question was lost")
		}
		time.Sleep(time.Second) // the goroutine that asks is not left
	})
}

// TestRootThatIsGone: what is known of the root stays when it cannot be described any more, and that is told.
func TestRootThatIsGone(t *testing.T) {
	var told []error
	known, _ := newHanging().MapFS.Stat("dir")
	r := root{info: known, failed: func(err error) { told = append(told, err) }}
	r.stat = func() (fs.FileInfo, error) { return nil, fs.ErrNotExist }
	if info := r.get(); info != known {
		t.Errorf("got %v", info)
	}
	r.stat = func() (fs.FileInfo, error) { panic("in stat") }
	if info := r.get(); info != known {
		t.Errorf("got %v", info)
	}
	if len(told) != 2 || !errors.Is(told[0], fs.ErrNotExist) {
		t.Errorf("told %v", told)
	}
}
