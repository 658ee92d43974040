package cloudproxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// connections are the proxy's own connections to a server without TLS. Unlike http.Transport, they let the kernel move
// the body of an answer from socket to socket, so that the proxy takes little of the processors that the measured
// programs need.
type connections struct {
	address string // of the server

	mu     sync.Mutex
	idle   []*connection
	closed bool // none was taken since CloseIdleConnections
}

// connection is a connection to the server, which answers one request at a time.
type connection struct {
	*net.TCPConn
	buffered *bufio.Reader // has read heads of answers, and up to bufferBytes of the body after them
}

// bufferBytes is the size of the buffer of a connection. A head fits in.
const bufferBytes = 4 << 10

// RoundTrip implements [http.RoundTripper] for requests without a body. A request for which the server has closed an
// idle connection is sent again.
func (c *connections) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		conn, used, err := c.take(r.Context())
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(r.Context(), func() { _ = conn.Close() })
		answer, err := conn.ask(r)
		if err == nil {
			answer.Body = c.bodyOf(answer, conn, stop)
			return answer, nil
		}
		stop()
		_ = conn.Close()
		if !used || r.Context().Err() != nil {
			return nil, err
		}
	}
}

// take returns an idle connection, or a new one. used reports whether it has had a request before.
func (c *connections) take(ctx context.Context) (conn *connection, used bool, err error) {
	if conn := c.takeIdle(); conn != nil {
		return conn, true, nil
	}
	plain, err := new(net.Dialer).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, false, err
	}
	tcp := plain.(*net.TCPConn)
	return &connection{tcp, bufio.NewReaderSize(tcp, bufferBytes)}, false, nil
}

// takeIdle returns the connection that became idle last, or nil.
func (c *connections) takeIdle() *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = false
	n := len(c.idle) - 1
	if n < 0 {
		return nil
	}
	conn := c.idle[n]
	c.idle = c.idle[:n]
	return conn
}

// put makes a connection idle.
func (c *connections) put(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return
	}
	c.idle = append(c.idle, conn)
}

// CloseIdleConnections closes the idle connections, and until the next request those that become idle.
func (c *connections) CloseIdleConnections() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.idle {
		_ = conn.Close()
	}
	c.idle, c.closed = nil, true
}

// ask sends a request and returns the answer, whose body is still to be read from the connection.
func (conn *connection) ask(r *http.Request) (*http.Response, error) {
	if err := r.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(conn.buffered, r)
}

// bodyOf returns the body of an answer. To close it gives the connection back, or closes it if the connection cannot be
// used again. stop ends the watch over the request.
func (c *connections) bodyOf(answer *http.Response, conn *connection, stop func() bool) io.ReadCloser {
	length := answer.ContentLength
	if answer.Request.Method == http.MethodHead || answer.Body == http.NoBody {
		length = 0
	}
	if length < 0 {
		return &unmeasuredBody{answer.Body, conn, stop}
	}
	return &measuredBody{conn, length, func(complete bool) {
		if stop() && complete && !answer.Close {
			c.put(conn)
			return
		}
		_ = conn.Close()
	}}
}

// measuredBody is a body of known length.
type measuredBody struct {
	conn *connection
	rest int64
	done func(complete bool)
}

var _ io.WriterTo = (*measuredBody)(nil)

// Read implements [io.Reader].
func (b *measuredBody) Read(p []byte) (int, error) {
	if b.rest == 0 {
		return 0, io.EOF
	}
	n, err := b.conn.buffered.Read(p[:min(int64(len(p)), b.rest)])
	b.rest -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// WriteTo implements [io.WriterTo]. What is not in the buffer of the connection does not pass through this process, if
// w is the answer to a client without TLS.
func (b *measuredBody) WriteTo(w io.Writer) (int64, error) {
	n, err := io.CopyN(w, b.conn.buffered, min(int64(b.conn.buffered.Buffered()), b.rest))
	if b.rest -= n; err != nil || b.rest == 0 {
		return n, err
	}
	m, err := io.Copy(w, &io.LimitedReader{R: b.conn.TCPConn, N: b.rest})
	if b.rest -= m; err == nil && b.rest > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n + m, err
}

// Close implements [io.Closer].
func (b *measuredBody) Close() error {
	b.done(b.rest == 0)
	return nil
}

// unmeasuredBody is a body whose length is not known before its end.
type unmeasuredBody struct {
	io.Reader
	conn *connection
	stop func() bool
}

// Close implements [io.Closer].
func (b *unmeasuredBody) Close() error {
	b.stop()
	return b.conn.Close()
}
