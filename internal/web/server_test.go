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

	"github.com/wkwfs/wkwfs/internal/web"
)

// pipes is a listener whose connections have neither a network nor a buffer, so that
// time inside a synctest bubble depends on nothing else.
type pipes struct {
	calls  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
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

// call connects and asks for a path.
func (p *pipes) call(t *testing.T, path string) (net.Conn, *bufio.Reader) {
	t.Helper()
	ours, theirs := net.Pipe()
	p.calls <- theirs
	if _, err := io.WriteString(ours, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return ours, bufio.NewReader(ours)
}

// served runs a server in a bubble, and test beside it; end stops the server and
// returns what it says.
func served(t *testing.T, files *tree, o web.Options, test func(t *testing.T, at *pipes, end func() error)) {
	synctest.Test(t, func(t *testing.T) {
		at := newPipes()
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- web.Serve(ctx, at, web.Handler(files, o), slog.New(slog.DiscardHandler)) }()
		over := false
		end := func() error {
			over = true
			cancel()
			return <-result
		}
		test(t, at, end)
		if !over {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestStalledClient holds that who takes nothing for half a minute is left, and that who
// takes a little now and then gets everything, however long it takes.
func TestStalledClient(t *testing.T) {
	served(t, newTree(), web.Options{}, func(t *testing.T, at *pipes, _ func() error) {
		conn, in := at.call(t, "/color/1/volume.raw")
		reply, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Second) // of the bubble: it takes no time
		n, err := io.Copy(io.Discard, reply.Body)
		if !errors.Is(err, io.ErrUnexpectedEOF) || n > 128<<10 {
			t.Errorf("%d bytes, error %v: want that the connection was closed", n, err)
		}
		conn.Close()

		conn, in = at.call(t, "/color/1/volume.raw")
		if reply, err = http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		begin, total := time.Now(), 0
		for {
			time.Sleep(8 * time.Second)
			n, err := io.CopyN(io.Discard, reply.Body, 30<<10)
			total += int(n)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("after %d bytes and %v: %v", total, time.Since(begin), err)
			}
		}
		if total != 1<<20 || time.Since(begin) < 4*time.Minute {
			t.Errorf("%d bytes in %v", total, time.Since(begin))
		}
		conn.Close()
	})
}

// TestSilentClient holds that connections on which nothing comes are closed.
func TestSilentClient(t *testing.T) {
	served(t, newTree(), web.Options{}, func(t *testing.T, at *pipes, _ func() error) {
		for text, limit := range map[string]time.Duration{
			"":                            10 * time.Second,
			"GET / HTTP/1.1\r\nHost: x\r": 10 * time.Second,
		} {
			ours, theirs := net.Pipe()
			at.calls <- theirs
			if _, err := io.WriteString(ours, text); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			_, _ = io.Copy(io.Discard, ours) // an error says the same as an end
			if took := time.Since(begin); took > limit {
				t.Errorf("%q: closed after %v", text, took)
			}
		}
		conn, in := at.call(t, "/color/1/volume.json")
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, _ = io.Copy(io.Discard, in)
		if took := time.Since(begin); took != 2*time.Minute {
			t.Errorf("an idle connection was closed after %v", took)
		}
		conn.Close()
	})
}

func TestTooManyRequests(t *testing.T) {
	files := newTree()
	served(t, files, web.Options{MaxRequests: 2}, func(t *testing.T, at *pipes, _ func() error) {
		blocked := files.block("slow.raw")
		one, oneIn := at.call(t, "/slow.raw")
		two, _ := at.call(t, "/slow.raw")
		synctest.Wait()
		three, threeIn := at.call(t, "/ids.raw")
		reply, err := http.ReadResponse(threeIn, nil)
		if err != nil || reply.StatusCode != 503 || reply.Header.Get("Retry-After") != "1" {
			t.Errorf("reply %+v, error %v: want 503", reply, err)
		}
		two.Close() // who leaves makes room
		synctest.Wait()
		four, fourIn := at.call(t, "/color/1/volume.json")
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

// TestEnd holds that what is being sent is completed, if that is soon enough.
func TestEnd(t *testing.T) {
	for _, soon := range []bool{true, false} {
		files := newTree()
		served(t, files, web.Options{}, func(t *testing.T, at *pipes, end func() error) {
			blocked := files.block("slow.raw")
			conn, in := at.call(t, "/slow.raw")
			defer conn.Close()
			synctest.Wait()
			if soon {
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
			said := make(chan error)
			begin := time.Now()
			go func() { said <- end() }()
			text := <-got
			if err := <-said; err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); soon && text != "200 OK whole" || !soon && !strings.Contains(text, "EOF") || took > 11*time.Second {
				t.Errorf("soon %v: %s after %v", soon, text, took)
			}
		})
	}
}

// TestBrokenListener holds that Serve says why it ended.
func TestBrokenListener(t *testing.T) {
	at := newPipes()
	at.Close()
	if err := web.Serve(t.Context(), at, web.Handler(newTree(), web.Options{}), slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
