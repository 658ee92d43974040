package nfs

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"net"
	"os"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// serve serves fsys over TCP until the test ends, and returns a function that connects.
func serve(t *testing.T, fsys fs.FS) func() *client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- New(fsys, Options{}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func() *client {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return &client{t: t, conn: conn, claim: claim{uid: uint32(os.Getuid()), gid: uint32(os.Getgid())}}
	}
}

// send sends calls without waiting for replies.
func (c *client) send(messages ...[]byte) {
	c.t.Helper()
	if _, err := c.conn.Write(bytes.Join(messages, nil)); err != nil {
		c.t.Fatal(err)
	}
}

// TestManyClients: 64 clients with 16 READs in flight each get the bytes that they asked for.
func TestManyClients(t *testing.T) {
	const clients, reads, size = 64, 16, 64 << 10
	data := numbered(clients * reads * size)
	connect := serve(t, fstest.MapFS{"f": {Data: data, Mode: 0o444}})
	var group sync.WaitGroup
	for i := range clients {
		c := connect()
		group.Go(func() {
			h := c.find("f")
			offsets := map[uint32]int{}
			for j := range reads {
				off := (i + j*clients) * size
				c.send(c.message(programNFS, versionNFS, procRead, readArgs(h, uint64(off), size)))
				offsets[c.xid] = off
			}
			for range reads {
				xid, accepted, d := c.receive()
				off, ok := offsets[xid]
				delete(offsets, xid)
				s := status(d.Uint32())
				d.Uint32()
				readAttr(d)
				d.Uint64()
				if got := d.Opaque(maxRead); !ok || accepted != rpcSuccess || s != statusOK ||
					!bytes.Equal(got, data[off:off+size]) {
					t.Errorf("client %d: transaction %d known: %t, accept_stat %d, status %d, %d bytes", i, xid, ok,
						accepted, s, len(got))
				}
			}
		})
	}
	group.Wait()
}

// TestSlowClients: clients that read no replies hold nobody up, and their requests take no more than the budget.
func TestSlowClients(t *testing.T) {
	t.Parallel() // it waits for a client to count as slow
	data := numbered(64 << 20)
	connect := serve(t, fstest.MapFS{"f": {Data: data, Mode: 0o444}})
	for range 8 {
		slow := connect()
		h := slow.find("f")
		go func() {
			for i := 0; ; i++ {
				if _, err := slow.conn.Write(slow.message(programNFS, versionNFS, procRead,
					readArgs(h, uint64(i%64)<<20, maxRead))); err != nil {
					return // cut, or the end of the test
				}
			}
		}()
	}
	quick := connect()
	h := quick.find("f")
	start := time.Now()
	for i := range 256 {
		off := i % 64 << 20
		if s, got, _ := quick.read(h, uint64(off), maxRead); s != statusOK || !bytes.Equal(got, data[off:off+maxRead]) {
			t.Fatalf("status %d, %d bytes", s, len(got))
		}
	}
	t.Logf("256 MiB beside slow clients took %v", time.Since(start))
}

// TestBudget: a connection gets memory while it holds no more than is free, and a new one only what is free.
func TestBudget(t *testing.T) {
	if budgetBytes != 64<<20 || endTime != 5*time.Second {
		t.Errorf("SEMANTICS.md promises 64 MiB and five seconds, but these are %d bytes and %v", int64(budgetBytes),
			endTime)
	}
	b := newBudget(16)
	first, second, third := new(conn), new(conn), new(conn)
	for i, want := range []struct {
		c  *conn
		ok bool
	}{{first, true}, {first, true}, {first, true}, {first, false}, {second, true}, {second, false}, {first, false},
		{third, false}} {
		if ok, _ := b.take(want.c, 4); ok != want.ok {
			t.Errorf("step %d: got %t", i, ok)
		}
	}
	b.release(first, 4)
	b.release(first, 4)
	if ok, _ := b.take(second, 4); !ok {
		t.Error("no memory after a release")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.acquire(ctx, second, 16); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	b.release(first, 4)
	b.release(second, 8)
	if b.free != 16 || len(b.held) != 0 {
		t.Errorf("%d bytes are free, %d connections hold some", b.free, len(b.held))
	}
}

// TestRefusedCalls: calls of other programs, versions and procedures, and with bad arguments, have the replies of RFC
// 5531.
func TestRefusedCalls(t *testing.T) {
	c := connect(t, fstest.MapFS{"f": {Mode: 0o444}})
	for _, q := range []struct {
		name                        string
		program, version, procedure uint32
		args                        func(*xdr.Encoder)
		want                        acceptStatus
		rest                        int // bytes
	}{
		{"unknown program", 100021, 4, 0, nil, rpcNoProgram, 0},
		{"NFS version 4", programNFS, 4, 0, nil, rpcVersionMismatch, 8},
		{"MOUNT version 1", programMount, 1, 1, nil, rpcVersionMismatch, 8},
		{"unknown procedure", programNFS, 3, 22, nil, rpcNoProcedure, 0},
		{"no arguments", programNFS, 3, 1, nil, rpcGarbage, 0},
		{"a handle of 65 bytes", programNFS, 3, 1, func(e *xdr.Encoder) { e.Opaque(make([]byte, 65)) }, rpcGarbage, 0},
		{"a READ without a size", programNFS, 3, procRead,
			func(e *xdr.Encoder) { e.Opaque([]byte{kindDir}); e.Uint64(0) }, rpcGarbage, 0},
		{"null", programNFS, 3, 0, nil, rpcSuccess, 0},
	} {
		c.send(c.message(q.program, q.version, q.procedure, q.args))
		if xid, got, d := c.receive(); xid != c.xid || got != q.want || len(d.Rest()) != q.rest {
			t.Errorf("%s: accept_stat %d, % x", q.name, got, d.Rest())
		}
	}
}

// TestDeniedCalls: calls whose header is bad are denied, or end the connection. The server goes on.
func TestDeniedCalls(t *testing.T) {
	header := func(words ...uint32) []byte {
		e := xdr.NewEncoder(make([]byte, recordMark))
		e.Uint32(words...)
		binary.BigEndian.PutUint32(e.Bytes(), lastFragment|uint32(e.Len()-recordMark))
		return e.Bytes()
	}
	for name, q := range map[string]struct {
		message []byte
		want    []uint32 // of the reply; nil: the connection ends
	}{
		"RPC version 3": {header(9, msgCall, 3, programNFS, 3, 0, 0, 0, 0, 0),
			[]uint32{9, msgReply, replyDenied, deniedVersion, 2, 2}},
		"Kerberos": {header(9, msgCall, 2, programNFS, 3, 0, 6, 0, 0, 0),
			[]uint32{9, msgReply, replyDenied, deniedAuth, authTooWeak}},
		"no credentials": {header(9, msgCall, 2, programNFS, 3, 0), []uint32{9, msgReply, replyDenied, deniedAuth,
			authBadCredentials}},
		"AUTH_SYS of 4 bytes": {header(9, msgCall, 2, programNFS, 3, 0, authSys, 4, 1, 0, 0),
			[]uint32{9, msgReply, replyDenied, deniedAuth, authBadCredentials}},
		"17 groups": {header(9, msgCall, 2, programNFS, 3, 0, authSys, 20, 0, 0, 0, 0, 17, 0, 0),
			[]uint32{9, msgReply, replyDenied, deniedAuth, authBadCredentials}},
		"a reply":             {header(9, msgReply, 2, programNFS, 3, 0, 0, 0, 0, 0), nil},
		"an empty record":     {header(), nil},
		"a record of 2 GiB":   {[]byte{0xff, 0xff, 0xff, 0xff}, nil},
		"a record that grows": {bytes.Repeat(append([]byte{0, 1, 0, 0}, make([]byte, 1<<16)...), 3), nil},
		"bytes of HTTP":       {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), nil},
		"AUTH_NONE is allowed": {header(9, msgCall, 2, programNFS, 3, 0, authNone, 0, 0, 0),
			[]uint32{9, msgReply, replyAccepted, 0, 0, 0}},
	} {
		c := connect(t, fstest.MapFS{})
		go func() { _, _ = c.conn.Write(q.message) }() // the server may end the connection before the last byte
		got, err := readReply(c.conn)
		want := xdr.NewEncoder(nil)
		if want.Uint32(q.want...); q.want == nil && err == nil || q.want != nil && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: got % x, %v", name, got, err)
		}
	}
}

// TestFragments: a call may come in many fragments and small pieces.
func TestFragments(t *testing.T) {
	c := connect(t, fstest.MapFS{})
	message := c.message(programNFS, versionNFS, 0, nil)[recordMark:]
	for i := range message {
		last := byte(0)
		if i == len(message)-1 {
			last = 0x80
		}
		c.send([]byte{last, 0}, []byte{0, 1, message[i]})
	}
	if xid, accepted, _ := c.receive(); xid != c.xid || accepted != rpcSuccess {
		t.Errorf("got transaction %d, accept_stat %d", xid, accepted)
	}
}

// FuzzCall: no call of any bytes ends the server, or takes memory out of proportion.
func FuzzCall(f *testing.F) {
	files, names := longTree()
	s := New(files, Options{})
	c := &client{claim: claim{uid: 1, gid: 2, groups: []uint32{3}}}
	for _, name := range names[:3] {
		h := s.handles.encode(handle{path: name})
		for procedure := range uint32(len(nfsProcedures)) {
			f.Add(c.message(programNFS, versionNFS, procedure,
				func(e *xdr.Encoder) { e.Opaque(h); e.String("name"); e.Uint64(0, 0, 0) })[recordMark:])
		}
		f.Add(c.message(programNFS, versionNFS, procReadDirPlus,
			func(e *xdr.Encoder) { e.Opaque([]byte{kindDir}); e.Uint64(0, 0); e.Uint32(999, 999) })[recordMark:])
		f.Add(c.message(programMount, versionMount, 1, func(e *xdr.Encoder) { e.String(name) })[recordMark:])
	}
	f.Add(c.message(programPortmap, versionPortmap, 3,
		func(e *xdr.Encoder) { e.Uint32(programNFS, 3, 6, 0) })[recordMark:])
	f.Fuzz(func(t *testing.T, record []byte) {
		if len(record) > maxRecord {
			return
		}
		called, err := parseCall(record)
		if err != nil {
			return
		}
		if w := called.weight(); w <= 0 || w > budgetBytes/8 {
			t.Fatalf("a weight of %d", w)
		}
		r := s.reply(t.Context(), called, callerOf(called.claim, peer{}))
		defer r.free()
		if int64(len(r.head)+len(r.data)) > called.weight() || len(r.head) < recordMark+24 ||
			(len(r.head)+len(r.data))%4 != 0 {
			t.Fatalf("a reply of %d and %d bytes for a weight of %d", len(r.head), len(r.data), called.weight())
		}
	})
}
