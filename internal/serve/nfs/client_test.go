package nfs

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"net"
	"path"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// client is a simple client of a server, with one call in flight.
type client struct {
	t    *testing.T
	conn net.Conn
	xid  uint32
	claim
}

// connect serves fsys and returns a client that counts as a user of another machine.
func connect(t *testing.T, fsys fs.FS) *client { return connectTo(t, New(fsys, Options{FSID: 7})) }

func connectTo(t *testing.T, s *Server) *client {
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.serveConn(ctx, far)
	}()
	t.Cleanup(func() {
		near.Close()
		cancel()
		<-ended
	})
	return &client{t: t, conn: near, claim: claim{uid: 1000, gid: 100}}
}

// message encodes a call with its record mark.
func (c *client) message(program, version, procedure uint32, args func(*xdr.Encoder)) []byte {
	c.xid++
	e := xdr.NewEncoder(make([]byte, recordMark))
	e.Uint32(c.xid, msgCall, rpcVersion, program, version, procedure)
	credentials := xdr.NewEncoder(nil)
	credentials.Uint32(0)
	credentials.String("machine")
	credentials.Uint32(c.uid, c.gid, uint32(len(c.groups)))
	credentials.Uint32(c.groups...)
	e.Uint32(authSys)
	e.Opaque(credentials.Bytes())
	e.Uint32(authNone, 0)
	if args != nil {
		args(e)
	}
	b := e.Bytes()
	binary.BigEndian.PutUint32(b, lastFragment|uint32(len(b)-recordMark))
	return b
}

// receive returns the next reply after its accept_stat, and its transaction.
func (c *client) receive() (xid uint32, status acceptStatus, results *xdr.Decoder) {
	c.t.Helper()
	record, err := readReply(c.conn)
	if err != nil {
		c.t.Fatal(err)
	}
	d := xdr.NewDecoder(record)
	xid = d.Uint32()
	if kind, denied := d.Uint32(), d.Uint32(); kind != msgReply || denied != replyAccepted {
		c.t.Fatalf("got a reply of type %d, status %d, % x", kind, denied, d.Rest())
	}
	d.Uint32()
	d.Opaque(0)
	return xid, acceptStatus(d.Uint32()), d
}

// readReply reads a record that may be longer than a call.
func readReply(conn net.Conn) ([]byte, error) {
	var header [4]byte
	if _, err := readFull(conn, header[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(header[:]) &^ lastFragment
	if n > maxRead+1024 {
		return nil, fmt.Errorf("a reply of %d bytes", n)
	}
	record := make([]byte, n)
	_, err := readFull(conn, record)
	return record, err
}

func readFull(conn net.Conn, p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := conn.Read(p[n:])
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}

// call returns the results of a call that must be accepted.
func (c *client) call(program, version, procedure uint32, args func(*xdr.Encoder)) *xdr.Decoder {
	c.t.Helper()
	if _, err := c.conn.Write(c.message(program, version, procedure, args)); err != nil {
		c.t.Fatal(err)
	}
	xid, accepted, results := c.receive()
	if xid != c.xid || accepted != rpcSuccess {
		c.t.Fatalf("procedure %d: got transaction %d, accept_stat %d, expected %d, 0", procedure, xid, accepted, c.xid)
	}
	return results
}

// nfs returns the status and the results of a procedure of NFS.
func (c *client) nfs(procedure uint32, args func(*xdr.Encoder)) (status, *xdr.Decoder) {
	c.t.Helper()
	d := c.call(programNFS, versionNFS, procedure, args)
	return status(d.Uint32()), d
}

// mount returns the handle of a directory.
func (c *client) mount(dir string) (status, []byte) {
	c.t.Helper()
	d := c.call(programMount, versionMount, 1, func(e *xdr.Encoder) { e.String(dir) })
	if s := status(d.Uint32()); s != statusOK {
		return s, nil
	}
	return statusOK, d.Opaque(maxHandle)
}

// attr are the attributes that tests look at.
type attr struct {
	kind, mode, uid, gid uint32
	size, fsid, id       uint64
}

func readAttr(d *xdr.Decoder) attr {
	a := attr{kind: d.Uint32(), mode: d.Uint32()}
	d.Uint32()
	a.uid, a.gid, a.size = d.Uint32(), d.Uint32(), d.Uint64()
	d.Uint64()
	d.Uint64()
	a.fsid, a.id = d.Uint64(), d.Uint64()
	for range 3 {
		d.Uint64()
	}
	return a
}

// lookup returns the handle of an entry of a directory.
func (c *client) lookup(dir []byte, name string) (status, []byte, attr) {
	c.t.Helper()
	s, d := c.nfs(3, func(e *xdr.Encoder) { e.Opaque(dir); e.String(name) })
	if s != statusOK {
		return s, nil, attr{}
	}
	h := d.Opaque(maxHandle)
	d.Uint32()
	return s, h, readAttr(d)
}

// find returns the handle of a path, which must exist.
func (c *client) find(name string) []byte {
	c.t.Helper()
	s, h := c.mount("/" + path.Dir(name))
	if s == statusOK {
		s, h, _ = c.lookup(h, path.Base(name))
	}
	if s != statusOK {
		c.t.Fatalf("%s: status %d", name, s)
	}
	return h
}

// read returns the bytes of a READ, and whether they are the last ones.
func (c *client) read(h []byte, off uint64, n uint32) (s status, p []byte, eof bool) {
	c.t.Helper()
	s, d := c.nfs(procRead, readArgs(h, off, n))
	if s != statusOK {
		return s, nil, false
	}
	d.Uint32()
	readAttr(d)
	count, end := d.Uint32(), d.Uint32()
	p = d.Opaque(maxRead)
	if int(count) != len(p) || d.Err() != nil || len(d.Rest()) != 0 {
		c.t.Fatalf("count %d, data of %d bytes, %v, % x", count, len(p), d.Err(), d.Rest())
	}
	return s, p, end != 0
}

func readArgs(h []byte, off uint64, n uint32) func(*xdr.Encoder) {
	return func(e *xdr.Encoder) { e.Opaque(h); e.Uint64(off); e.Uint32(n) }
}
