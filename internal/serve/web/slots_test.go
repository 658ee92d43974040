package web

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// TestSlotsAreShared: a client leaves slots for others, however many requests it has.
func TestSlotsAreShared(t *testing.T) {
	s := newSlots(16)
	control := http.NewResponseController(httptest.NewRecorder())
	held := func(client string) (n int) {
		for {
			ok, _ := s.take(&slot{client: client, control: control})
			if !ok {
				return n
			}
			n++
		}
	}
	for i, want := range []int{9, 4, 2, 1} { // about half of what is free, each
		if n := held(fmt.Sprint(i)); n != want {
			t.Errorf("client %d has %d slots, expected %d", i, n, want)
		}
	}
	for x := range s.held {
		s.release(x)
	}
	if s.free != 16 || len(s.used) != 0 {
		t.Errorf("%d slots are free, clients %v", s.free, s.used)
	}
}

// TestSlotQueue: requests wait for a slot, a limited number of them, and for a limited time.
func TestSlotQueue(t *testing.T) {
	if slotStall != 2*time.Second || slotTimeout != 10*time.Second {
		t.Errorf("SEMANTICS.md and docs/http.md promise two and ten seconds, but these are %v and %v", slotStall,
			slotTimeout)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		control := http.NewResponseController(httptest.NewRecorder())
		first, err := s.acquire(t.Context(), "192.0.2.1:1", control)
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 5)
		for range 5 {
			go func() {
				x, err := s.acquire(t.Context(), "192.0.2.2:2", control)
				if err == nil {
					defer s.release(x)
				}
				results <- err
			}()
		}
		synctest.Wait()
		if err := <-results; !errors.Is(err, errTooManyRequests) {
			t.Errorf("the fifth request that waits: %v", err)
		}
		time.Sleep(slotTimeout - time.Nanosecond)
		s.release(first)
		for range 4 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if first, err = s.acquire(t.Context(), "192.0.2.1:1", control); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := s.acquire(t.Context(), "192.0.2.2:2", control); !errors.Is(err, errTooManyRequests) ||
			time.Since(start) != slotTimeout {
			t.Errorf("%v after %v, expected %v after %v", err, time.Since(start), errTooManyRequests, slotTimeout)
		}
		s.release(first)
	})
}

// pipes is a listener whose connections are pipes. They have no buffer, so a client that does not read blocks the first
// write. In a synctest bubble, time passes when all goroutines wait for the network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// get connects and asks for a file. The caller reads the reply, or does not.
func (p pipes) get(t *testing.T, name string) net.Conn {
	client, server := net.Pipe()
	p <- server
	if _, err := fmt.Fprintf(client, "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name); err != nil {
		t.Error(err)
	}
	return client
}

// TestClientsThatDoNotRead: more clients than there are slots ask for a large file and read nothing. Another client
// of the same address gets its reply.
func TestClientsThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 4
		h := Handler(fstest.MapFS{"large.raw": {Data: make([]byte, 1<<20)}, "small.raw": {Data: []byte("small")}},
			Options{MaxRequests: slots})
		network := make(pipes)
		server := http.Server{Handler: h}
		go server.Serve(network)
		defer server.Close()
		for range 2 * slots {
			defer network.get(t, "large.raw").Close()
		}
		synctest.Wait() // they have all slots of the address, or wait for one
		start := time.Now()
		conn := network.get(t, "small.raw")
		defer conn.Close()
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply.StatusCode != http.StatusOK {
			t.Errorf("status %s", reply.Status)
		}
		if time.Since(start) == 0 {
			t.Error("the client did not have to wait")
		}
	})
}
