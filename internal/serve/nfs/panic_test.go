package nfs

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// inject makes the next goroutine that passes a place panic. injected reports whether one did.
func inject(t *testing.T, at string) (injected func() bool) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	var done atomic.Bool
	restore := guard.Inject(func(place string) {
		if place == at && !done.Swap(true) {
			panic("injected")
		}
	})
	t.Cleanup(func() { restore(); guard.LogTo(nil) })
	return done.Load
}

// TestPanics: a panic of a call is NFS3ERR_IO for it, or an entry of a listing without attributes. The calls of others,
// and the same call later, have right results.
func TestPanics(t *testing.T) {
	data := numbered(1 << 20)
	files := fstest.MapFS{"f": {Data: data, Mode: 0o444}, "dir/a": {Mode: 0o444}, "dir/b": {Mode: 0o444}}
	for place, fails := range map[string]bool{"nfs.call": true, "nfs.open": true, "nfs.list": true,
		"nfs.describe": false} {
		t.Run(place, func(t *testing.T) {
			connect := serve(t, files)
			injected := inject(t, place)
			var failed atomic.Int32
			ok := func(s status) bool {
				if s == statusIO {
					failed.Add(1)
				} else if s != statusOK {
					t.Errorf("status %d", s)
				}
				return s == statusOK
			}
			use := func(c *client) {
				s, root := c.mount("/")
				if !ok(s) {
					return
				}
				if s, h, _ := c.lookup(root, "f"); ok(s) {
					if s, p, _ := c.read(h, 4096, 8192); ok(s) && !bytes.Equal(p, data[4096:][:8192]) {
						t.Error("wrong bytes")
					}
				}
				if s, h, _ := c.lookup(root, "dir"); ok(s) {
					s, _ := c.nfs(procReadDirPlus, func(e *xdr.Encoder) {
						e.Opaque(h)
						e.Uint64(0)
						e.Uint64(0)
						e.Uint32(8192, 8192)
					})
					ok(s)
				}
			}
			var clients sync.WaitGroup
			for range 5 {
				c := connect()
				clients.Go(func() { use(c) })
			}
			clients.Wait()
			// READs that wait for the same file to be opened share its panic.
			if n := failed.Load(); !injected() || (n > 0) != fails || n > 1 && place != "nfs.open" {
				t.Errorf("injected %v, %d calls failed", injected(), n)
			}
			failed.Store(0)
			if use(connect()); failed.Load() > 0 {
				t.Error("a call fails after the panic")
			}
		})
	}
}

// panicking has files whose reads panic.
type panicking struct{ fs.FS }

func (p panicking) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	if _, ok := f.(io.ReaderAt); ok && name == "f" {
		return panickingFile{f}, err
	}
	return f, err
}

type panickingFile struct{ fs.File }

func (panickingFile) ReadAt([]byte, int64) (int, error) { panic("in ReadAt") }

// TestPanicIsLogged: the log has the stack of a panic once, with the operation and the path.
func TestPanicIsLogged(t *testing.T) {
	guard.LogTo(slog.New(slog.DiscardHandler))
	defer guard.LogTo(nil)
	var log bytes.Buffer
	s := New(panicking{fstest.MapFS{"f": {Data: numbered(100), Mode: 0o444}}},
		Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	c := connectTo(t, s)
	h := c.find("f")
	for range 2 {
		if s, _, _ := c.read(h, 0, 10); s != statusIO {
			t.Errorf("status %d", s)
		}
	}
	got := log.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg="cannot read" path=f `) ||
		strings.Count(got, "panickingFile.ReadAt") != 1 {
		t.Errorf("logged\n%s", got)
	}
}

// TestPanicOfReply: if a call cannot be answered because of a panic, its connection is cut, so that the client repeats
// it.
func TestPanicOfReply(t *testing.T) {
	connect := serve(t, fstest.MapFS{"f": {Data: numbered(100), Mode: 0o444}})
	for _, place := range []string{"nfs.connection", "nfs.reply"} {
		injected := inject(t, place)
		c := connect()
		_, _ = c.conn.Write(c.message(programNFS, versionNFS, 0, nil)) // fails if the connection is cut already
		if _, err := readReply(c.conn); err == nil || !injected() {
			t.Errorf("%s: got a reply", place)
		}
		if s, _, _ := connect().read(connect().find("f"), 0, 10); s != statusOK {
			t.Errorf("%s: status %d of another connection", place, s)
		}
	}
}

// TestPanicsInBackground: a panic while idle files are closed, or while the server ends, holds nobody up.
func TestPanicsInBackground(t *testing.T) {
	for _, place := range []string{"nfs.idle", "nfs.end", "nfs.listener", "nfs.cut", "nfs.close"} {
		t.Run(place, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				injected := inject(t, place)
				files := fstest.MapFS{"f": {Data: numbered(100), Mode: 0o444}}
				s := New(files, Options{})
				l := newPipes()
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- s.Serve(ctx, l) }()
				c := &client{t: t, conn: l.dial(), claim: claim{uid: 1000, gid: 100}}
				h := c.find("f")
				if s, _, _ := c.read(h, 0, 10); s != statusOK {
					t.Errorf("status %d", s)
				}
				if place == "nfs.close" {
					s.files.count = maxFiles // so that the next open closes a file
					s.files.mu.Lock()
					s.files.makeRoom()
					s.files.mu.Unlock()
				}
				time.Sleep(4 * idleTime)
				if s.files.mu.Lock(); len(s.files.open) > 0 {
					t.Errorf("%d files are open", len(s.files.open))
				}
				s.files.mu.Unlock()
				if s, _, _ := c.read(h, 0, 10); s != statusOK {
					t.Errorf("status %d", s)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if !injected() {
					t.Error("there was no panic")
				}
			})
		})
	}
}

// pipes is a listener for connections in memory.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
	once        sync.Once
}

func newPipes() *pipes { return &pipes{connections: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.connections <- far
	return near
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }
