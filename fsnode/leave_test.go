package fsnode

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const eintr = fuse.Status(syscall.EINTR)

// left is a request that waits for the source, what of, and how it ends when its reader is killed.
type left struct {
	name, kind string
	prepare    func(s *session) (send func(cancel <-chan struct{}) fuse.Status)
	want       fuse.Status
}

var requests = []left{
	{"lookup", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		return func(cancel <-chan struct{}) fuse.Status { return s.lookup(cancel, dir, "a") }
	}, eintr},
	{"getattr of a directory", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.getattr(cancel, dir); return status }
	}, eintr},
	// What a file was is known.
	{"getattr of a file", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		file := s.find("dir/a")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.getattr(cancel, file); return status }
	}, fuse.OK},
	{"open", kindOpen, func(s *session) func(<-chan struct{}) fuse.Status {
		file := s.find("dir/a")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.open(cancel, file); return status }
	}, eintr},
	{"opendir", kindList, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		return func(cancel <-chan struct{}) fuse.Status { _, status := s.opendir(cancel, dir); return status }
	}, eintr},
	// The entries have no attributes then.
	{"readdir", kindStat, func(s *session) func(<-chan struct{}) fuse.Status {
		dir := s.find("dir")
		handle, _ := s.opendir(nil, dir)
		return func(cancel <-chan struct{}) fuse.Status { return s.readdir(cancel, dir, handle) }
	}, fuse.OK},
	{"read of a file as it is", kindRead, func(s *session) func(<-chan struct{}) fuse.Status {
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

// TestRequestsCanBeLeft: a request whose reader was killed ends when patience is over, also if the source
// never answers. What the source gives later is closed.
func TestRequestsCanBeLeft(t *testing.T) {
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newHanging()
				send := r.prepare(newSession(t, source, nil))
				release := source.hang(r.kind)
				start, cancel, ended := time.Now(), make(chan struct{}), make(chan fuse.Status, 1)
				go func() { ended <- send(cancel) }()
				time.Sleep(time.Hour)
				if len(ended) > 0 {
					t.Fatal("it did not wait for the source")
				}
				close(cancel)
				if status := <-ended; status != r.want {
					t.Errorf("it ended with %v, want %v", status, r.want)
				}
				if took := time.Since(start) - time.Hour; took != patience {
					t.Errorf("it ended %v after the signal, want %v", took, patience)
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

// TestSignalsAreNotTheEnd: a request goes on after a signal if the source answers before patience is over.
func TestSignalsAreNotTheEnd(t *testing.T) {
	for _, r := range requests {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := newHanging()
				send := r.prepare(newSession(t, source, nil))
				release := source.hang(r.kind)
				cancel, ended := make(chan struct{}), make(chan fuse.Status, 1)
				close(cancel)
				go func() { ended <- send(cancel) }()
				time.Sleep(patience - 1)
				release()
				if status := <-ended; !status.Ok() {
					t.Errorf("it ended with %v", status)
				}
			})
		})
	}
}

// TestFewAreLeft: no more than maxLeft calls go on beside the requests. Further requests wait for the source, unless
// they do not need it.
func TestFewAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newHanging()
		s := newSession(t, source, nil)
		dir := s.find("dir")
		release := source.hang(kindStat)
		cancel, ended := make(chan struct{}), make(chan fuse.Status, maxLeft+1)
		close(cancel)
		for range maxLeft + 1 {
			go func() { ended <- s.lookup(cancel, dir, "a") }()
		}
		time.Sleep(time.Hour)
		for range maxLeft {
			if status := <-ended; status != eintr {
				t.Fatalf("a request that was left ended with %v", status)
			}
		}
		if len(ended) > 0 {
			t.Fatal("one more was left")
		}
		s.find("live/tells")
		release()
		<-ended // with an answer, or left because there is room again
		synctest.Wait()
		if source.hang(kindStat); len(ended) > 0 {
			t.Fatal("there were more")
		}
		go func() { ended <- s.lookup(cancel, dir, "a") }()
		if status := <-ended; status != eintr { // there is room again
			t.Errorf("afterwards: %v", status)
		}
		close(source.released)
	})
}

// TestPrompt: a source that answers at once is asked by the request itself.
func TestPrompt(t *testing.T) {
	nodes, _, err := newNodes(newHanging(), Options{Observer: nobody{}, Prompt: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != "in Stat" { // another goroutine's would be an error with its stack
			t.Errorf("the request panics with %v", p)
		}
	}()
	nodes.Lookup(nil, header(fuse.FUSE_ROOT_ID), "panics", new(fuse.EntryOut))
}

// TestPanics: what panics while it answers a request panics in the request, and is logged if that was left.
func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		source := newHanging()
		s := newSession(t, source, slog.New(slog.NewTextHandler(&log, nil)))
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "in Stat") || !strings.Contains(err.Error(), "helpers_test.go") {
					t.Errorf("the request panics with %v", err)
				}
			}()
			s.lookup(nil, fuse.FUSE_ROOT_ID, "panics")
		}()
		release := source.hang(kindStat)
		cancel := make(chan struct{})
		close(cancel)
		if status := s.lookup(cancel, fuse.FUSE_ROOT_ID, "panics"); status != eintr {
			t.Errorf("the request that is left ends with %v", status)
		}
		release()
		synctest.Wait()
		if !strings.Contains(log.String(), "panic in a call that was left") {
			t.Errorf("the log: %s", &log)
		}
	})
}
