package cloudproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// content is the object that the server of the tests has.
var content = bytes.Repeat([]byte("0123456789"), 10_000)

// start starts a server of one object, a proxy in front of it, and a client.
func start(t *testing.T) (*Proxy, *http.Client) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"v1"`)
		w.Header().Set("X-Host", r.Host)
		http.ServeContent(w, r, "object", time.Unix(1, 0), bytes.NewReader(content))
	}))
	t.Cleanup(server.Close)
	p, err := Start(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Down)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	t.Cleanup(client.CloseIdleConnections)
	return p, client
}

// answer is what a client got.
type answer struct {
	response *http.Response
	body     []byte
	err      error // of the request, or of its body
}

// get requests bytes 100 to 199, if no other header is given.
func get(t *testing.T, p *Proxy, c *http.Client, header ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "GET", p.URL()+"/object", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Range", "bytes=100-199")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := c.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response, body, err}
}

// TestFaults checks that each fault does what it says, and nothing else.
func TestFaults(t *testing.T) {
	p, client := start(t)
	right := content[100:200]
	for _, test := range []struct {
		name   string
		fault  Fault
		header []string
		status int
		body   []byte
		broken bool
		ranges string // Content-Range
	}{
		{name: "none", status: 206, body: right, ranges: "bytes 100-199/100000"},
		{name: "status", fault: Fault{Status: 503, Body: "busy", Header: http.Header{"Retry-After": {"7"}}},
			status: 503, body: []byte("busy")},
		{name: "cut", fault: Fault{Cut: true}, status: 206, body: right[:50], broken: true,
			ranges: "bytes 100-199/100000"},
		{name: "short", fault: Fault{Short: true}, status: 206, body: right[:50], ranges: "bytes 100-149/100000"},
		{name: "shift", fault: Fault{Shift: true}, status: 206, body: right[1:], ranges: "bytes 101-199/100000"},
		{name: "size", fault: Fault{Size: true}, status: 206, body: right, ranges: "bytes 100-199/100001"},
		{name: "whole", fault: Fault{Whole: true}, status: 200, body: content},
		{name: "changed", header: []string{"If-Match", `"v0"`}, status: 412},
		{name: "always", fault: Fault{Always: true}, header: []string{"If-Match", `"v0"`}, status: 206, body: right,
			ranges: "bytes 100-199/100000"},
		{name: "reset", fault: Fault{Reset: true}, broken: true},
		{name: "pause", fault: Fault{Pause: time.Millisecond}, status: 206, body: right,
			ranges: "bytes 100-199/100000"},
	} {
		p.Set(Rules{Fault: Always(test.fault)})
		// A connection that broke before the header is tried again by net/http if it was used before.
		client.CloseIdleConnections()
		got := get(t, p, client, test.header...)
		if (got.err != nil) != test.broken || !bytes.Equal(got.body, test.body) {
			t.Errorf("%s: %d bytes, error %v", test.name, len(got.body), got.err)
		}
		if got.response == nil {
			continue
		}
		if got.response.StatusCode != test.status || got.response.Header.Get("Content-Range") != test.ranges {
			t.Errorf("%s: status %d, range %q", test.name, got.response.StatusCode,
				got.response.Header.Get("Content-Range"))
		}
		if host := got.response.Header.Get("X-Host"); test.fault.Status == 0 && "http://"+host != p.URL() {
			t.Errorf("%s: the server got Host %q, want that of %s", test.name, host, p.URL())
		}
	}
	p.Set(Rules{Fault: Always(Fault{NoVersion: true})})
	if h := get(t, p, client).response.Header; h.Get("Etag") != "" || h.Get("Last-Modified") != "" {
		t.Errorf("no version: %v", h)
	}
}

// TestHang checks that a request that hangs ends when the client leaves, and when the proxy goes down.
func TestHang(t *testing.T) {
	for _, f := range []Fault{{Hang: true}, {HangBody: true}} {
		p, client := start(t)
		p.Set(Rules{Fault: Always(f)})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, "GET", p.URL()+"/object", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			response.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v: the client got %v", f, err)
		}
		ended := make(chan answer)
		go func() { ended <- get(t, p, client) }()
		awaitRequest(p)
		p.Down()
		if a := <-ended; a.err == nil {
			t.Errorf("%+v: the proxy went down, and the client got %q", f, a.body)
		}
	}
}

// TestDown checks that a proxy that is down refuses connections, and answers at the same address after that.
func TestDown(t *testing.T) {
	p, client := start(t)
	url := p.URL()
	p.Down()
	if a := get(t, p, client); a.err == nil {
		t.Error("a proxy that is down answered")
	}
	if err := p.Up(); err != nil {
		t.Fatal(err)
	}
	if a := get(t, p, client); a.err != nil || p.URL() != url {
		t.Errorf("%s, before %s: %v", p.URL(), url, a.err)
	}
}

// TestRecord checks what the proxy records.
func TestRecord(t *testing.T) {
	p, client := start(t)
	get(t, p, client, "Authorization", "AWS4-HMAC-SHA256 Credential=x")
	p.Set(Rules{Fault: Always(Fault{Status: 404, Body: "none"})})
	get(t, p, client)
	var got []string
	for _, r := range p.Requests() {
		got = append(got, fmt.Sprint(r.Method, r.Path, r.Range, r.Signed, r.Status, r.Bytes))
	}
	want := []string{fmt.Sprint("GET", "/object", "bytes=100-199", true, 206, 100),
		fmt.Sprint("GET", "/object", "bytes=100-199", false, 404, 4)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if len(p.Requests()) != 0 {
		t.Error("the record is not empty after it was read")
	}
}

// timeOf20 returns how long 20 requests take at a time.
func timeOf20(t *testing.T, p *Proxy, client *http.Client, header string) time.Duration {
	begin := time.Now()
	ended := make(chan answer)
	for range 20 {
		go func() { ended <- get(t, p, client, "Range", header) }()
	}
	for range 20 {
		if a := <-ended; a.err != nil {
			t.Error(a.err)
		}
	}
	return time.Since(begin)
}

// TestTimes checks that delays and rates take the time that they should, for many requests at a time. A busy machine
// may take longer, but not fifty times in a row.
func TestTimes(t *testing.T) {
	p, client := start(t)
	for _, test := range []struct {
		rules  Rules
		header string
		least  time.Duration
	}{
		{Rules{Delay: 50 * time.Millisecond}, "bytes=0-0", 50 * time.Millisecond},
		{Rules{Rate: 500_000}, "bytes=0-99999", 180 * time.Millisecond}, // the first piece is sent at once
	} {
		p.Set(test.rules)
		took := time.Hour
		for i := 0; i < 50 && took > test.least*10; i++ {
			took = timeOf20(t, p, client, test.header)
		}
		if took < test.least || took > test.least*10 {
			t.Errorf("%+v: %v", test.rules, took)
		}
	}
	if n := p.MostInFlight(); n < 2 || n > 20 {
		t.Errorf("%d requests in flight", n)
	}
}

// TestSometimes checks that the share is about right, and that a seed repeats the choices.
func TestSometimes(t *testing.T) {
	a, b := Sometimes(1, 0.2, Transient()...), Sometimes(1, 0.2, Transient()...)
	n := 0
	for range 1000 {
		x, y := a(nil), b(nil)
		if x.Status != y.Status || x.Cut != y.Cut || x.Reset != y.Reset {
			t.Fatalf("the same seed gave %+v and %+v", x, y)
		}
		if x.Status != 0 || x.Cut || x.Reset {
			n++
		}
	}
	if n < 150 || n > 250 {
		t.Errorf("%d faults in 1000 requests, want about 200", n)
	}
}

// awaitRequest waits until the proxy has a request.
func awaitRequest(p *Proxy) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for p.MostInFlight() == 0 {
		<-tick.C
	}
}

// TestReplace checks that no request reaches the server while an object is replaced.
func TestReplace(t *testing.T) {
	var replaced atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, replaced.Load())
	}))
	defer server.Close()
	p, err := Start(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Down()
	ended := make(chan answer)
	p.Replace(func() {
		go func() { ended <- get(t, p, http.DefaultClient) }()
		awaitRequest(p)
		replaced.Store(true)
	})
	if a := <-ended; a.err != nil || string(a.body) != "true" {
		t.Errorf("the server answered %q before the object was replaced; error %v", a.body, a.err)
	}
}
