package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

// pipes is a listener of unbuffered connections without a network. Inside a synctest bubble, time passes only while
// all goroutines wait.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// get connects and requests a path.
func (p *pipes) get(t *testing.T, path string) (net.Conn, *bufio.Reader) {
	t.Helper()
	ours, theirs := net.Pipe()
	p.conns <- theirs
	if _, err := io.WriteString(ours, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return ours, bufio.NewReader(ours)
}

// withServer runs test with a server in a bubble. end stops the server and returns its error.
func withServer(t *testing.T, files *tree, o web.Options, test func(t *testing.T, at *pipes, end func() error)) {
	synctest.Test(t, func(t *testing.T) {
		at := newPipes()
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- web.Serve(ctx, at, web.Handler(files, o), slog.New(slog.DiscardHandler)) }()
		ended := false
		end := func() error {
			ended = true
			cancel()
			return <-result
		}
		test(t, at, end)
		if !ended {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestStalledClient: the server disconnects a client that accepts nothing for 30 seconds. A slow client gets the whole
// reply.
func TestStalledClient(t *testing.T) {
	withServer(t, newTree(), web.Options{}, func(t *testing.T, at *pipes, _ func() error) {
		conn, in := at.get(t, "/color/1/volume.raw")
		reply, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Second) // in the bubble: this takes no real time
		n, err := io.Copy(io.Discard, reply.Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) || n > 128<<10 {
			t.Errorf("%d bytes, error %v: the connection should be closed", n, err)
		}
		conn.Close()

		conn, in = at.get(t, "/color/1/volume.raw")
		if reply, err = http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		start, total := time.Now(), 0
		for {
			time.Sleep(8 * time.Second)
			n, err := io.CopyN(io.Discard, reply.Body, 30<<10)
			total += int(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("after %d bytes and %v: %v", total, time.Since(start), err)
			}
		}
		if total != 1<<20 || time.Since(start) < 4*time.Minute {
			t.Errorf("%d bytes in %v", total, time.Since(start))
		}
		conn.Close()
	})
}

// TestSilentClient: the server closes connections that send nothing.
func TestSilentClient(t *testing.T) {
	withServer(t, newTree(), web.Options{}, func(t *testing.T, at *pipes, _ func() error) {
		for text, limit := range map[string]time.Duration{
			"":                            10 * time.Second,
			"GET / HTTP/1.1\r\nHost: x\r": 10 * time.Second,
		} {
			ours, theirs := net.Pipe()
			at.conns <- theirs
			if _, err := io.WriteString(ours, text); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, _ = io.Copy(io.Discard, ours) // ends when the server closes the connection
			if took := time.Since(start); took > limit {
				t.Errorf("%q: closed after %v", text, took)
			}
		}
		conn, in := at.get(t, "/color/1/volume.json")
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, _ = io.Copy(io.Discard, in)
		if took := time.Since(start); took != 2*time.Minute {
			t.Errorf("an idle connection was closed after %v", took)
		}
		conn.Close()
	})
}

func TestTooManyRequests(t *testing.T) {
	files := newTree()
	withServer(t, files, web.Options{MaxRequests: 2}, func(t *testing.T, at *pipes, _ func() error) {
		blocked := files.block("slow.raw")
		one, oneIn := at.get(t, "/slow.raw")
		two, _ := at.get(t, "/slow.raw")
		synctest.Wait()
		three, threeIn := at.get(t, "/ids.raw")
		reply, err := http.ReadResponse(threeIn, nil)
		if err != nil || reply.StatusCode != 503 || reply.Header.Get("Retry-After") != "1" {
			t.Errorf("reply %+v, error %v: want 503", reply, err)
		}
		two.Close() // its request frees a slot
		synctest.Wait()
		four, fourIn := at.get(t, "/color/1/volume.json")
		if reply, err = http.ReadResponse(fourIn, nil); err != nil || reply.StatusCode != 200 {
			t.Errorf("reply %+v, error %v: want 200", reply, err)
		}
		close(blocked)
		if reply, err = http.ReadResponse(oneIn, nil); err != nil || reply.StatusCode != 200 {
			t.Errorf("reply %+v, error %v: want 200", reply, err)
		}
		for _, c := range []net.Conn{one, three, four} {
			c.Close()
		}
	})
}

// TestShutdown: a reply in flight is completed if it takes less than ten seconds, else cut.
func TestShutdown(t *testing.T) {
	for _, fast := range []bool{true, false} {
		files := newTree()
		withServer(t, files, web.Options{}, func(t *testing.T, at *pipes, end func() error) {
			blocked := files.block("slow.raw")
			conn, in := at.get(t, "/slow.raw")
			defer conn.Close()
			synctest.Wait()
			if fast {
				time.AfterFunc(9*time.Second, func() { close(blocked) })
			}
			got := make(chan string)
			go func() {
				reply, err := http.ReadResponse(in, nil)
				if err != nil {
					got <- err.Error()
					return
				}
				_, err = io.Copy(io.Discard, reply.Body)
				got <- reply.Status + map[bool]string{true: " whole", false: " cut"}[err == nil]
			}()
			ended := make(chan error)
			start := time.Now()
			go func() { ended <- end() }()
			text := <-got
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if took := time.Since(start); fast && text != "200 OK whole" || !fast && !strings.Contains(text, "EOF") ||
				took > 11*time.Second {
				t.Errorf("fast %v: %s after %v", fast, text, took)
			}
		})
	}
}

// TestBrokenListener: Serve returns the error of its listener.
func TestBrokenListener(t *testing.T) {
	at := newPipes()
	at.Close()
	if err := web.Serve(t.Context(), at, web.Handler(newTree(), web.Options{}),
		slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
