package cloudproxy

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// TestConnections checks that the proxy uses a connection to the server again, and another one if the server has closed
// it; and that bodies that are larger than its buffer, or whose length is not known, arrive.
func TestConnections(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("chunked") {
			_ = http.NewResponseController(w).Flush() // without Content-Length
			_, _ = w.Write(content)                   // the client may have left
			return
		}
		http.ServeContent(w, r, "object", time.Unix(1, 0), bytes.NewReader(content))
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	p, err := Start(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Down()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func(what, header string, want []byte) {
		t.Helper()
		if a := get(t, p, client, "Range", header); a.err != nil || !bytes.Equal(a.body, want) {
			t.Errorf("%s: %d bytes, expected %d; error %v", what, len(a.body), len(want), a.err)
		}
	}
	for range 20 {
		ask("one after the other", "bytes=1-99998", content[1:99999])
	}
	if n := opened.Load(); n > 2 {
		t.Errorf("%d connections for requests one after the other", n)
	}
	for range 5 {
		server.CloseClientConnections()
		ask("after the server has closed its connections", "bytes=5-9999", content[5:10000])
	}
	for range 3 {
		response, err := client.Get(p.URL() + "/object?chunked")
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(response.Body); err != nil || !bytes.Equal(body.Bytes(), content) {
			t.Errorf("a body of unknown length: %d bytes, expected %d; error %v", body.Len(), len(content), err)
		}
		response.Body.Close()
	}
}
