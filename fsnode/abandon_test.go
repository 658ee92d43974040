//go:build linux

package fsnode

import (
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

const eintr = fuse.Status(syscall.EINTR)

// waiting is a request that waits for a call of the source. want is its status when its reader is killed.
type waiting struct {
	name, kind string
	prepare    func(s *session) (send func(cancel <-chan struct{}) fuse.Status)
	want       fuse.Status
}

var waitingRequests = []waiting{
	{"lookup", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		return func(cancel <-chan struct{}) fuse.Status { return s.lookup(cancel, dir, "a") }
	}, eintr},
	{"getattr of a directory", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.getattr(cancel, dir); return status }
	}, eintr},
	{"open", kindOpen, func(s *session) func(<-chan struct{}) fuse.Status {
		file := s.find("dir/a")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.open(cancel, file); return status }
	}, eintr},
	{"opendir", kindList, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.opendir(cancel, dir); return status }
	}, eintr},
	// The answer has no attributes.
	{"readdir", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		handle, _ := s.opendir(nil, dir)
		return func(cancel <-chan struct{}) fuse.Status { return s.readdir(cancel, dir, handle) }
	}, fuse.OK},
	{"read without a context", kindRead, func(s *session) func(<-chan struct{}) fuse.Status {
		file := s.find("dir/a")
		handle, _ := s.open(nil, file)
		return func(cancel <-chan struct{}) fuse.Status {
			defer s.release(file, handle)
			p, status := s.read(cancel, file, handle)
			if status.Ok() && string(p) != "aaaa" {
				s.t.Errorf("read %q", p)
			}
			return status
		}
	}, eintr},
	{"lseek", kindSeek, func(s *session) func(<-chan struct{}) fuse.Status {
		file := s.find("dir/a")
		handle, _ := s.open(nil, file)
		return func(cancel <-chan struct{}) fuse.Status {
			defer s.release(file, handle)
			return s.seekData(cancel, file, handle)
		}
	}, eintr},
}

// TestRequestsCanBeAbandoned: the request of a killed reader ends after the grace period, even if the source
// does not answer. A file that the source opens later is closed.
func TestRequestsCanBeAbandoned(t *testing.T) {
	for _, r := range waitingRequests {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newHanging()
				send := r.prepare(newSession(t, source, nil))
				release := source.hang(r.kind)
				start, cancel, ended := time.Now(), make(chan struct{}), make(chan fuse.Status, 1)
				go func() { ended <- send(cancel) }()
				time.Sleep(time.Hour)
				if len(ended) > 0 {
					t.Fatal("the request did not wait for the source")
				}
				close(cancel)
				if status := <-ended; status != r.want {
					t.Errorf("the status is %v, want %v", status, r.want)
				}
				if took := time.Since(start) - time.Hour; took != gracePeriod {
					t.Errorf("ended %v after the signal, want %v", took, gracePeriod)
				}
				release()
				synctest.Wait()
				if n := source.open.Load(); n != 0 {
					t.Errorf("%d files are open", n)
				}
			})
		})
	}
}

// TestSignalsDoNotEndRequests: a request succeeds if the source answers within the grace period after a
// signal.
func TestSignalsDoNotEndRequests(t *testing.T) {
	for _, r := range waitingRequests {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newHanging()
				send := r.prepare(newSession(t, source, nil))
				release := source.hang(r.kind)
				cancel, ended := make(chan struct{}), make(chan fuse.Status, 1)
				close(cancel)
				go func() { ended <- send(cancel) }()
				time.Sleep(gracePeriod - 1)
				release()
				if status := <-ended; !status.Ok() {
					t.Errorf("the status is %v", status)
				}
			})
		})
	}
}

// TestAbandonedCallsAreBounded: at most maxAbandoned calls are abandoned. Further requests wait for the
// source, unless they do not need it.
func TestAbandonedCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newHanging()
		s := newSession(t, source, nil)
		dir := s.find("dir")
		release := source.hang(kindStat)
		cancel, ended := make(chan struct{}), make(chan fuse.Status, maxAbandoned+1)
		close(cancel)
		for range maxAbandoned + 1 {
			go func() { ended <- s.lookup(cancel, dir, "a") }()
		}
		time.Sleep(time.Hour)
		for range maxAbandoned {
			if status := <-ended; status != eintr {
				t.Fatalf("an abandoned request ended with %v", status)
			}
		}
		if len(ended) > 0 {
			t.Fatal("one more call was abandoned")
		}
		s.find("other/f")
		release()
		<-ended // with an answer, or abandoned because there is room again
		synctest.Wait()
		if source.hang(kindStat); len(ended) > 0 {
			t.Fatal("more requests ended than were sent")
		}
		go func() { ended <- s.lookup(cancel, dir, "a") }()
		if status := <-ended; status != eintr { // there is room again
			t.Errorf("after the release: %v", status)
		}
		close(source.released)
	})
}

// TestAnswersAtOnce: a call to a source that answers at once runs in the goroutine of the request.
func TestAnswersAtOnce(t *testing.T) {
	_, nodes, _, err := newNodes(newHanging(), Options{Observer: noObserver{},
		AnswersAtOnce: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	logPanics(t)
	here := func() string { // the goroutine
		id, _, _ := strings.Cut(string(debug.Stack()), " [")
		return id
	}
	called := ""
	defer guard.Inject(func(place string) {
		if place == "fsnode.source" {
			called = here()
		}
	})()
	nodes.Lookup(nil, header(fuse.FUSE_ROOT_ID), "dir", new(fuse.EntryOut))
	if called != here() {
		t.Errorf("the call runs in %s, and the request in %s", called, here())
	}
}

// TestAbandonedPanic: the panic of a call that its request has abandoned is logged.
func TestAbandonedPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := logPanics(t)
		source := newHanging()
		s := newSession(t, source, nil)
		release := source.hang(kindStat)
		cancel := make(chan struct{})
		close(cancel)
		if status := s.lookup(cancel, fuse.FUSE_ROOT_ID, "panics"); status != eintr {
			t.Errorf("the abandoned request ends with %v", status)
		}
		release()
		synctest.Wait()
		if got := log.String(); !strings.Contains(got, "panic in fsnode.source: in Stat") ||
			!strings.Contains(got, "hanging_test.go") {
			t.Errorf("the log: %s", got)
		}
	})
}
