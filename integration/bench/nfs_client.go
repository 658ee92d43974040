package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
)

// nfsReadSize is the size of a READ in bytes: the largest that the server answers.
const nfsReadSize = 1 << 20

// nfsClient is a client of NFS version 3 and MOUNT (RFC 1813) that reads one file.
type nfsClient struct {
	conn net.Conn
	in   *bufio.Reader
	xid  uint32
}

// readNFS reads a file from start to end, with nfsInFlight READs in flight. to returns the memory for n bytes from
// offset off. readNFS returns the number of bytes.
func readNFS(ctx context.Context, port, name string, to func(off, n int64) []byte) (int64, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c := &nfsClient{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	handle, size, err := c.find(name)
	if err != nil {
		return 0, fmt.Errorf("%s over NFS: %w", name, err)
	}
	return size, c.readAll(handle, size, to)
}

// find returns the handle and the size of a file.
func (c *nfsClient) find(name string) (handle []byte, size int64, err error) {
	mounted, err := c.call(100005, 1, func(e *xdr.Encoder) { e.String("/" + path.Dir(name)) })
	if err != nil {
		return nil, 0, err
	}
	dir := mounted.Opaque(64)
	found, err := c.call(100003, 3, func(e *xdr.Encoder) { e.Opaque(dir); e.String(path.Base(name)) })
	if err != nil {
		return nil, 0, err
	}
	handle = found.Opaque(64)
	found.Uint32() // attributes follow
	for range 5 {
		found.Uint32() // type, mode, links, user, group
	}
	return handle, int64(found.Uint64()), found.Err()
}

// readAll reads size bytes.
func (c *nfsClient) readAll(handle []byte, size int64, to func(off, n int64) []byte) error {
	offsets := map[uint32]int64{}
	for next := int64(0); next < size || len(offsets) > 0; {
		for ; next < size && len(offsets) < nfsInFlight; next += nfsReadSize {
			if err := c.send(100003, 6, func(e *xdr.Encoder) { e.Opaque(handle); e.Uint64(uint64(next)); e.Uint32(nfsReadSize) }); err != nil {
				return err
			}
			offsets[c.xid] = next
		}
		// After 6 words of RPC: the status, the attributes, the count, whether this is the end, the length of the data.
		const head = 6*4 + 4 + 4 + 84 + 4 + 4 + 4
		length, d, err := c.receive(head)
		if err != nil {
			return err
		}
		off, known := offsets[d.xid]
		n := min(nfsReadSize, size-off)
		if delete(offsets, d.xid); !known || length < head+n || length > head+n+3 {
			return fmt.Errorf("reply %d of %d bytes: expected one in flight, with %d bytes from %d", d.xid, length, n, off)
		}
		if _, err := io.ReadFull(c.in, to(off, n)); err != nil {
			return err
		}
		if _, err := c.in.Discard(int(length - head - n)); err != nil {
			return err
		}
	}
	return nil
}

// send sends a call of a procedure in version 3 of a program, without credentials.
func (c *nfsClient) send(program, procedure uint32, args func(*xdr.Encoder)) error {
	c.xid++
	e := xdr.NewEncoder(make([]byte, 4, 256))
	e.Uint32(c.xid, 0, 2, program, 3, procedure, 0, 0, 0, 0)
	args(e)
	message := e.Bytes()
	binary.BigEndian.PutUint32(message, 1<<31|uint32(len(message)-4))
	_, err := c.conn.Write(message)
	return err
}

// received is a reply after its status.
type received struct {
	*xdr.Decoder
	xid uint32
}

// receive reads the first n bytes of a reply, or all if it is shorter. It returns the length of the reply. It fails if the
// call did.
func (c *nfsClient) receive(n int) (length int64, d received, err error) {
	var mark [4]byte
	if _, err := io.ReadFull(c.in, mark[:]); err != nil {
		return 0, d, err
	}
	length = int64(binary.BigEndian.Uint32(mark[:]) &^ (1 << 31))
	head := make([]byte, min(int64(n), length))
	if _, err := io.ReadFull(c.in, head); err != nil {
		return 0, d, err
	}
	d.Decoder = xdr.NewDecoder(head)
	d.xid = d.Uint32()
	for range 5 { // that it is a reply, that it is accepted, the verifier, that it succeeded
		d.Uint32()
	}
	if status := d.Uint32(); status != 0 || d.Err() != nil {
		return 0, d, fmt.Errorf("status %d, error %v", status, d.Err())
	}
	return length, d, nil
}

// call returns the results of a call whose reply is short.
func (c *nfsClient) call(program, procedure uint32, args func(*xdr.Encoder)) (received, error) {
	if err := c.send(program, procedure, args); err != nil {
		return received{}, err
	}
	_, d, err := c.receive(1 << 10)
	return d, err
}
