//go:build linux

package fsnode

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// logPanics returns a buffer to which panics are logged that no request logs.
func logPanics(t *testing.T) *buffer {
	guard.LogTo(slog.New(slog.DiscardHandler))
	guard.Flush() // of other tests
	log := new(buffer)
	guard.LogTo(slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(func() { guard.LogTo(nil) })
	return log
}

// TestPanics: a panic of any call to the source is EIO for the request. The log has its stack once, with the path.
// Nothing stays open, and the same request works as soon as the source does.
func TestPanics(t *testing.T) {
	type request struct {
		name, kind, path string
		send             func(*session) fuse.Status
	}
	opened := func(s *session, then func(node, handle uint64) fuse.Status) fuse.Status {
		node := s.find("dir/f")
		handle, status := s.open(nil, node)
		if !status.Ok() {
			return status
		}
		defer s.release(node, handle)
		return then(node, handle)
	}
	reads := func(s *session) fuse.Status {
		return opened(s,
			func(node, handle uint64) fuse.Status { _, status := s.read(nil, node, handle); return status })
	}
	for _, r := range []request{
		{"lookup", "stat", "f", func(s *session) fuse.Status { return s.lookup(nil, fuse.FUSE_ROOT_ID, "f") }},
		{"getattr", "stat", "dir",
			func(s *session) fuse.Status { _, status := s.getattr(nil, s.mount.newNode("dir").ino); return status }},
		{"open", "open", "dir/f", reads},
		{"open", "fstat", "dir/f", reads},
		{"opendir", "list", "dir",
			func(s *session) fuse.Status { _, status := s.opendir(nil, s.find("dir")); return status }},
		{"read", "read", "dir/f", reads},
		{"lseek", "seek", "dir/f", func(s *session) fuse.Status {
			return opened(s, func(node, handle uint64) fuse.Status { return s.seekData(nil, node, handle) })
		}},
		{"close", "close", "dir/f", reads},
	} {
		for _, atOnce := range []bool{false, true} {
			for _, cancels := range []bool{false, true} {
				logPanics(t)
				var log bytes.Buffer
				src := newSource("f", "dir/f", "dir/g")
				src.file = func(f fs.File) fs.File {
					if cancels && r.name != "lseek" {
						return cancellable{f.(*sourceFile)}
					}
					return sparse{f.(*sourceFile), [][2]int64{{0, 5}}}
				}
				s := newSessionWith(t, src, Options{Log: slog.New(slog.NewTextHandler(&log, nil)),
					AnswersAtOnce: func() bool { return atOnce }})
				s.find("dir/f")
				src.fails, src.err = r.kind, errPanic
				want := fuse.EIO
				if r.name == "close" {
					want = fuse.OK // the kernel does not wait for it
				}
				for range 2 {
					if status := r.send(s); status != want {
						t.Errorf("%s, panic in %s: %v, expected %v", r.name, r.kind, status, want)
					}
				}
				if got := log.String(); strings.Count(got, "stack=") != 1 || strings.Count(got, "\n") != 1 ||
					!strings.Contains(got, `msg="cannot `+r.name+`" path=`+r.path+" ") ||
					!strings.Contains(got, "sourceFile") && !strings.Contains(got, "(*source)") {
					t.Errorf("%s, panic in %s, at once %v: the log has\n%s", r.name, r.kind, atOnce, got)
				}
				src.fails = ""
				if status := r.send(s); !status.Ok() || src.open != 0 {
					t.Errorf("%s, after a panic in %s: %v, and %d open files", r.name, r.kind, status, src.open)
				}
			}
		}
	}
}

// inject makes the next goroutine that passes a place panic. injected reports whether one did.
func inject(t *testing.T, at string) (injected func() bool) {
	var done atomic.Bool
	t.Cleanup(guard.Inject(func(place string) {
		if place == at && !done.Swap(true) {
			panic("injected")
		}
	}))
	return done.Load
}

// TestPanicsOfHandlers: a panic in the handler of a request is EIO.
func TestPanicsOfHandlers(t *testing.T) {
	logPanics(t)
	for _, place := range []string{"fsnode.request", "fsnode.read", "fsnode.source"} {
		src := newSource("f")
		src.MapFS["f"].Data = []byte("0123456789")
		src.file = func(f fs.File) fs.File { return withContext{f.(*sourceFile)} }
		s := newSession(t, src, nil)
		node := s.find("f")
		injected := inject(t, place)
		failed := 0
		for range 3 {
			handle, status := s.open(nil, node)
			if status == fuse.EIO {
				failed++
				continue
			}
			p := make([]byte, 4)
			result, status := s.nodes.Read(nil, &fuse.ReadIn{InHeader: *header(node), Fh: handle, Offset: 5,
				Size: uint32(len(p))}, p)
			if status == fuse.EIO {
				failed++
			} else if p, _ = result.Bytes(p); string(p) != "5678" {
				t.Errorf("%s: read %q, %v", place, p, status)
			}
			s.release(node, handle)
		}
		if !injected() || failed != 1 || src.open != 0 {
			t.Errorf("%s: %d requests fail, %d files are open", place, failed, src.open)
		}
	}
}

// withContext is a file that implements ContextReaderAt.
type withContext struct{ *sourceFile }

func (f withContext) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	return f.ReadAt(p, off)
}

// TestPanicsOfAttributes: after a panic in the stat of the root, later requests ask the source again.
func TestPanicsOfAttributes(t *testing.T) {
	logPanics(t)
	src := newSource("f")
	s := newSession(t, src, nil)
	injected := inject(t, "fsnode.attributes")
	before, _ := s.timeOf(fuse.FUSE_ROOT_ID)
	src.describe["."] = func(info fs.FileInfo) fs.FileInfo { return laterInfo{info, modTime.Add(time.Hour)} }
	if after, _ := s.timeOf(fuse.FUSE_ROOT_ID); !injected() || after.Equal(before) {
		t.Errorf("the time of the root is %v and later %v", before, after)
	}
}

type laterInfo struct {
	fs.FileInfo
	at time.Time
}

func (i laterInfo) ModTime() time.Time { return i.at }

// TestPanicsOfStatAhead: a panic in a stat ahead of its entry is no error of the lookup that started it. Nothing is
// statted ahead after it.
func TestPanicsOfStatAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := logPanics(t)
		src := newSource("dir/a", "dir/b", "dir/c")
		stats := map[string]int{}
		for _, name := range []string{"a", "b", "c"} {
			src.describe["dir/"+name] = func(info fs.FileInfo) fs.FileInfo {
				if stats[name]++; name == "b" && stats[name] == 1 {
					panic("in stat")
				}
				return info
			}
		}
		s := newSession(t, src, nil)
		dir := s.find("dir")
		if _, status := s.opendir(nil, dir); !status.Ok() {
			t.Fatal(status)
		}
		for _, name := range []string{"a", "b", "c"} {
			if status := s.lookup(nil, dir, name); !status.Ok() {
				t.Errorf("%s: %v", name, status)
			}
			if name == "b" && stats["c"] != 1 {
				t.Errorf("%d stats of c, expected 1", stats["c"])
			}
		}
		if got := log.String(); strings.Count(got, "stack=") != 1 || !strings.Contains(got, "path=dir/b") {
			t.Errorf("the log has\n%s", got)
		}
	})
}

// TestPanicsInBackground: a panic in what nobody waits for is logged, and nothing else fails.
func TestPanicsInBackground(t *testing.T) {
	for place, run := range map[string]func(*testing.T){
		"fsnode.interrupted": func(t *testing.T) {
			request, cancel := context.WithCancel(t.Context())
			g := newGrace(request)
			_ = g.Done()
			cancel()
			synctest.Wait()
			g.end()
			<-g.Done()
		},
		"fsnode.grace": func(t *testing.T) {
			request, cancel := context.WithCancel(t.Context())
			g := newGrace(request)
			_ = g.Done()
			cancel()
			start := time.Now()
			<-g.Done()
			if took := time.Since(start); took != gracePeriod {
				t.Errorf("the read ended %v after the signal, expected %v", took, gracePeriod)
			}
			g.end()
		},
		"fsnode.listing": func(t *testing.T) {
			l := newStream(newSource("f"), ".")
			l.mu.Lock()
			l.close()
			l.mu.Unlock()
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
		},
		"fsnode.reopen": func(t *testing.T) {
			src := newSource("a")
			th := thread{newSession(t, src, nil), src, 7}
			node := th.find("a")
			th.replace("a", "other")
			if got := th.open(node); got != "stale" {
				t.Errorf("got %s", got)
			}
			time.Sleep(2 * reopenTimeout)
			th.wantOpen(0)
		},
	} {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := logPanics(t)
				injected := inject(t, place)
				run(t)
				synctest.Wait()
				if !injected() || strings.Count(log.String(), "panic in "+place) != 1 {
					t.Errorf("the log has\n%s", log)
				}
			})
		})
	}
}

// TestPanicHandler: go-fuse answers EIO if the panic is in its own code.
func TestPanicHandler(t *testing.T) {
	logPanics(t)
	var log bytes.Buffer
	_, _, options, err := newNodes(newSource("f"),
		Options{Log: slog.New(slog.NewTextHandler(&log, nil))}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	before := guard.Count()
	func() {
		defer func() {
			if status := options.PanicHandler(recover()); status != fuse.Status(syscall.EIO) {
				t.Errorf("got %v", status)
			}
		}()
		panic("broken")
	}()
	if got := log.String(); guard.Count() != before+1 || !strings.Contains(got, "broken") ||
		!strings.Contains(got, "fsnode.TestPanicHandler") {
		t.Errorf("%d panics, the log has\n%s", guard.Count()-before, got)
	}
}
