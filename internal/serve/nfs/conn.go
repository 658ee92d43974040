package nfs

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

const (
	// maxCalls bounds the calls of a connection that are answered at a time.
	maxCalls = 64
	// callWeight is the memory that a call has beside the bytes of READ: its goroutine, its record and its reply.
	callWeight = 32 << 10
	// recordTimeout is the time for the bytes of a call, once the first is there.
	recordTimeout = 30 * time.Second
	// writeTimeout is the time for the bytes of a reply.
	writeTimeout = time.Minute
)

// conn is a connection of a client.
type conn struct {
	server *Server
	net    net.Conn
	peer   peer
	calls  chan struct{} // holds a value for each call in progress
	group  sync.WaitGroup

	mu      sync.Mutex   // held while a reply is written
	blocked atomic.Int64 // when the write in flight started, in Unix nanoseconds; 0: there is none
}

// serve answers calls until the client goes, or ctx is done. It waits for the calls in progress.
func (c *conn) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.group.Wait()
	defer cancel() // before the wait: there is nobody to read the replies
	defer c.cut()
	r := bufio.NewReaderSize(c.net, 8<<10)
	for {
		_ = c.net.SetReadDeadline(time.Time{})
		record, err := readRecord(r, func() { _ = c.net.SetReadDeadline(time.Now().Add(recordTimeout)) })
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		if err := c.start(ctx, record); err != nil {
			return err
		}
	}
}

// start answers a call in a goroutine of its own, when there is room for it.
func (c *conn) start(ctx context.Context, record []byte) error {
	called, err := parseCall(record)
	var denial reject
	switch {
	case errors.As(err, &denial):
		return c.write(denied(called.xid, denial), nil)
	case err != nil:
		return err
	}
	weight := called.weight()
	select {
	case c.calls <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := c.server.budget.acquire(ctx, c, weight); err != nil {
		return err
	}
	c.group.Go(guard.FuncElse("nfs.call", func() {
		defer func() { <-c.calls }()
		defer c.server.budget.release(c, weight)
		c.answer(ctx, called)
	}, func(err error) {
		guard.Report(err, "program", called.program, "procedure", called.procedure)
		c.cut() // the client repeats a call that has no reply
	}))
	return nil
}

// answer answers a call.
func (c *conn) answer(ctx context.Context, called call) {
	start := time.Now()
	r := c.reply(ctx, called)
	defer r.free()
	guard.Pass("nfs.reply")
	if err := c.write(r.head, r.data); err != nil {
		c.cut()
	}
	c.server.log.Debug("call", "program", called.program, "procedure", called.procedure, "bytes", len(r.data), "took",
		time.Since(start))
}

// reply returns the reply to a call.
func (c *conn) reply(ctx context.Context, called call) reply {
	return c.server.reply(ctx, called, callerOf(called.claim, c.peer))
}

// write writes a reply: head, whose first bytes are for the record mark, and data.
func (c *conn) write(head, data []byte) error {
	binary.BigEndian.PutUint32(head, lastFragment|uint32(len(head)-recordMark+len(data)))
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.blocked.Store(now.UnixNano())
	defer c.blocked.Store(0)
	if err := c.net.SetWriteDeadline(now.Add(writeTimeout)); err != nil {
		return err
	}
	buffers := net.Buffers{head, data}
	_, err := buffers.WriteTo(c.net)
	return err
}

// stalled reports whether the client has blocked a write for long.
func (c *conn) stalled(now time.Time) bool {
	since := c.blocked.Load()
	return since != 0 && now.Sub(time.Unix(0, since)) >= stallTime
}

// cut ends the connection. The client connects again and repeats its calls.
func (c *conn) cut() { _ = c.net.Close() }
