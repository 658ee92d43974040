package cloudproxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Proxy is a running proxy.
type Proxy struct {
	server    *url.URL
	address   string
	transport *http.Transport
	direct    *connections // for requests without a body; nil: the server talks TLS, or has no port
	tls       *tls.Config

	mu       sync.Mutex
	rules    Rules
	running  *http.Server // nil while the proxy is down
	closed   chan struct{}
	requests []Request
	inFlight int
	most     int

	// Requests hold opening for reading until the server has opened the object.
	opening sync.RWMutex
}

// Request is what the proxy recorded about a request.
type Request struct {
	Method string
	Path   string // with the query
	Range  string
	Signed bool // it had credentials
	Status int  // 0: none was sent
	Bytes  int64
	Start  time.Time
	Time   time.Duration
}

// Start starts a proxy for a server, such as http://127.0.0.1:7070, at a free port of this machine. It talks TLS to its
// clients if config is not nil, and to the server if its scheme is https.
func Start(server string, config *tls.Config) (*Proxy, error) {
	return StartAt("127.0.0.1:0", server, config)
}

// StartAt is Start at a given address, such as 127.0.0.1:8080.
func StartAt(address, server string, config *tls.Config) (*Proxy, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	p := &Proxy{server: u, address: address, tls: config, transport: &http.Transport{
		MaxIdleConnsPerHost: 256,
		DisableCompression:  true,
		ReadBufferSize:      64 << 10,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, // it is the test's own server
	}}
	if u.Scheme == "http" && u.Port() != "" {
		p.direct = &connections{address: u.Host}
	}
	return p, p.Up()
}

// URL returns the address of the proxy, without a trailing slash.
func (p *Proxy) URL() string {
	if p.tls != nil {
		return "https://" + p.address
	}
	return "http://" + p.address
}

// Set changes the rules. Later requests follow them.
func (p *Proxy) Set(r Rules) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = r
}

// Up makes the proxy answer at its address again.
func (p *Proxy) Up() error {
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	if p.tls != nil {
		l = tls.NewListener(l, p.tls)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.address = l.Addr().String()
	p.closed = make(chan struct{})
	quiet := log.New(io.Discard, "", 0) // clients that leave during a handshake
	p.running = &http.Server{Handler: p, ErrorLog: quiet}
	go func(s *http.Server) { _ = s.Serve(l) }(p.running) // the error says that it was closed
	return nil
}

// Down breaks all connections, and refuses others until Up is called.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return
	}
	close(p.closed)
	_ = p.running.Close() // connections that are gone already
	p.running = nil
	p.transport.CloseIdleConnections()
	if p.direct != nil {
		p.direct.CloseIdleConnections()
	}
}

// Replace runs f while the server opens no object. A server that reads the attributes of an object and then opens it
// would otherwise send new content with the version of the old one.
func (p *Proxy) Replace(f func()) {
	p.opening.Lock()
	defer p.opening.Unlock()
	f()
}

// Requests returns the requests that ended since the last call, in the order of their ends.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.requests
	p.requests = nil
	return r
}

// MostInFlight returns the largest number of requests that were without a complete answer at a time, since the last
// call.
func (p *Proxy) MostInFlight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := p.most
	p.most = p.inFlight
	return most
}

// begin counts a request and returns the rules for it, and a channel that is closed when the proxy goes down.
func (p *Proxy) begin() (Rules, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight++
	p.most = max(p.most, p.inFlight)
	return p.rules, p.closed
}

// end records a request.
func (p *Proxy) end(r Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight--
	r.Time = time.Since(r.Start)
	p.requests = append(p.requests, r)
}
