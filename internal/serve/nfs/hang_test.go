package nfs

import (
	"bytes"
	"context"
	"io/fs"
	"net"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// hangingFS is a file system whose file "hangs" does not answer until the test ends.
type hangingFS struct {
	fstest.MapFS
	answer chan struct{}
}

func (h hangingFS) Open(name string) (fs.File, error) {
	if name == "hangs" {
		<-h.answer
	}
	return h.MapFS.Open(name)
}

func (h hangingFS) Stat(name string) (fs.FileInfo, error) { return h.MapFS.Stat(name) }

// TestHangingSource: a file that does not answer holds up only the calls that need it, and the end of the server for a
// few seconds only.
func TestHangingSource(t *testing.T) {
	t.Parallel() // it waits for the server to end
	data := numbered(1 << 20)
	fsys := hangingFS{fstest.MapFS{"hangs": {Data: data, Mode: 0o444}, "f": {Data: data, Mode: 0o444}},
		make(chan struct{})}
	defer close(fsys.answer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- New(fsys, Options{}).Serve(ctx, l) }()
	connect := func() *client {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return &client{t: t, conn: conn, claim: claim{uid: uint32(os.Getuid())}}
	}
	stuck := connect()
	hangs := stuck.find("hangs")
	for range maxCalls - 1 {
		stuck.send(stuck.message(programNFS, versionNFS, procRead, readArgs(hangs, 0, 4096)))
	}
	for _, c := range []*client{stuck, connect()} {
		if s, got, _ := c.read(c.find("f"), 0, 1<<20); s != statusOK || !bytes.Equal(got, data) {
			t.Errorf("status %d, %d bytes", s, len(got))
		}
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute): // on a busy machine, endTime
		t.Error("the server does not end")
	}
}

// TestRestart: a client goes on with its handles and cookies at another server.
func TestRestart(t *testing.T) {
	files, names := bigDirectory(300)
	data := numbered(100_000)
	files["dir/sub/f"] = &fstest.MapFile{Data: data, Mode: 0o444}
	before, after := connect(t, files), connect(t, files)
	dir, f := before.find("dir"), before.find("dir/sub/f")
	_, first, _ := before.list(dir, 0, 2048, true)
	_, head, _ := before.read(f, 0, 50_000)
	if s, tail, eof := after.read(f, 50_000, 1<<20); s != statusOK || !eof ||
		!bytes.Equal(append(head, tail...), data) {
		t.Errorf("READ: status %d, %d bytes", s, len(tail))
	}
	if s, d := after.nfs(1, func(e *xdr.Encoder) { e.Opaque(first[5].handle) }); s != statusOK ||
		readAttr(d) != *first[5].attr {
		t.Errorf("GETATTR: status %d, or other attributes", s)
	}
	n := len(first)
	for {
		s, more, eof := after.list(dir, uint64(n), 2048, true)
		if s != statusOK || len(more) == 0 {
			t.Fatalf("listing: status %d", s)
		}
		for _, e := range more {
			if n < len(names) && e.name != names[n] {
				t.Fatalf("entry %d: got %s, expected %s", n, e.name, names[n])
			}
			n++
		}
		if eof {
			break
		}
	}
	if n != len(names)+1 { // and sub
		t.Errorf("%d entries, expected %d", n, len(names)+1)
	}
}
