package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// client sends requests, and repeats those that fail for a while.
type client struct {
	http        *http.Client
	timeout     time.Duration
	userAgent   string
	credentials string // what to do if they are refused

	// sign adds credentials to a request. Nil: there are none.
	sign func(*http.Request) (*http.Request, error)

	outage outage

	readsSay atomic.Int32 // whether answers to reads have validators that descriptions lack: notKnown, noMore or more

	answered atomic.Bool   // the server has answered a request
	sent     atomic.Uint64 // attempts
	repeated atomic.Uint64 // attempts after the first one of a request
}

// Requests returns how many requests were sent, those that were repeated included, and how many were repeated.
func (c *client) Requests() (sent, repeated uint64) { return c.sent.Load(), c.repeated.Load() }

// CloseIdleConnections closes connections without a request.
func (c *client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// errRedirect is the error of a redirect that is not followed.
var errRedirect = errors.New("redirected")

func newClient(o Options) *client {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: min(10*time.Second, o.Timeout),
			KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    min(10*time.Second, o.Timeout),
		MaxIdleConns:           0, // no limit
		MaxIdleConnsPerHost:    o.Depth,
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true, // stored bytes are read as they are
		ReadBufferSize:         64 << 10,
		MaxResponseHeaderBytes: maxHeader,
		Protocols:              new(http.Protocols), // many connections are faster than one with many streams
	}
	t.Protocols.SetHTTP1(true)
	return &client{
		http:      &http.Client{Transport: t, CheckRedirect: checkRedirect},
		timeout:   o.Timeout,
		userAgent: o.UserAgent,
	}
}

// checkRedirect follows up to ten redirects, and none of them from https to http. Package http sends the user and the
// password of the first URL only to that host. It would send a token in the header to another port and to hosts below,
// too.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("%w from https to %s", errRedirect, shown(next.URL))
	case len(via) > 10:
		return fmt.Errorf("%w more than 10 times", errRedirect)
	}
	next.Header.Del("Referer") // it has the query of the first URL
	if serverOf(next.URL) != serverOf(via[0].URL) {
		next.Header.Del("Authorization")
	}
	return nil
}

// loginClient returns a client for servers that give credentials. It follows no redirects: they would take secrets to
// another server.
func loginClient() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       loginTimeout,
		Transport:     short{loginTransport},
	}
}

// loginTransport is that of package http, with a limit for headers.
var loginTransport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = maxHeader
	return t
}()

// short limits the answers of servers that give credentials: documents of a few kilobytes, which others parse.
type short struct{ http.RoundTripper }

// maxLogin is the size in bytes of the largest answer with credentials.
const maxLogin = 64 << 10

// RoundTrip implements [http.RoundTripper].
func (s short) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(q)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxLogin)
	}
	return answer, err
}

// loginTimeout is the longest time of a request to a server that gives credentials, on the internet.
const loginTimeout = 10 * time.Second

// request is a request without a body.
type request struct {
	method string
	url    *url.URL
	header http.Header
}

// permanent is an error of an answer that another attempt would have too.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// do sends a request until take accepts the answer. It repeats attempts that may succeed later, with growing pauses,
// for as long as the timeout. An answer whose status is not 2xx is a [*failure]. An error of take that is not permanent
// means that the body was cut short. The error is ctx.Err() as soon as ctx is done.
func (c *client) do(ctx context.Context, r request, take func(*http.Response) error) error {
	if f := c.outage.now(r); f != nil {
		return f.advise(c.credentials)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	p := &pace{ExponentialBackOff: backoff.NewExponentialBackOff()}
	p.InitialInterval, p.Multiplier, p.MaxInterval = 100*time.Millisecond, 2, 5*time.Second
	attempts := 0
	var last error
	_, _ = backoff.Retry(limited, func() (struct{}, error) { // its error may be that of limited
		c.sent.Add(1)
		if attempts++; attempts > 1 {
			c.repeated.Add(1)
		}
		err := c.attempt(limited, r, take)
		// the end of the time cuts an attempt short, which hides what is wrong
		if err == nil || last == nil || limited.Err() == nil {
			last = err
		}
		if last == nil {
			return struct{}{}, nil
		}
		var f *failure
		if errors.As(last, &f) {
			f.attempts, p.after = attempts, f.after
			if f.temporary {
				return struct{}{}, last
			}
		}
		return struct{}{}, backoff.Permanent(last)
	}, backoff.WithBackOff(p), backoff.WithMaxElapsedTime(c.timeout))
	if last != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	var f *failure
	isFailure := errors.As(last, &f)
	c.outage.record(f, isFailure && f.temporary)
	if isFailure {
		return f.advise(c.credentials)
	}
	return last
}

// pace is how long to wait before the next attempt: longer each time, and not less than the server asks for.
type pace struct {
	*backoff.ExponentialBackOff
	after time.Duration
}

// NextBackOff implements [backoff.BackOff].
func (p *pace) NextBackOff() time.Duration { return max(p.ExponentialBackOff.NextBackOff(), p.after) }

// attempt sends a request once.
func (c *client) attempt(ctx context.Context, r request, take func(*http.Response) error) error {
	watched, stall := watch(ctx, max(c.timeout/4, time.Second))
	defer stall.stop()
	q, err := http.NewRequestWithContext(watched, r.method, r.url.String(), nil)
	if err != nil {
		return fmt.Errorf("%s %s: the URL cannot be sent", r.method, shown(r.url))
	}
	for name, values := range r.header {
		q.Header[name] = values
	}
	q.Header.Set("User-Agent", c.userAgent)
	if c.sign != nil {
		if q, err = c.sign(q); err != nil {
			return err
		}
	}
	answer, err := c.http.Do(q)
	if err != nil {
		return unanswered(r.method, r.url, err, c.answered.Load())
	}
	defer answer.Body.Close() // its error loses no data
	c.answered.Store(true)
	stall.moved()
	answer.Body = struct {
		io.Reader
		io.Closer
	}{moving{answer.Body, stall}, answer.Body}
	if answer.StatusCode < 200 || answer.StatusCode >= 300 {
		return refused(r.method, r.url, answer)
	}
	err = take(answer)
	var final permanent
	var f *failure
	switch {
	case err == nil:
		drain(answer.Body)
		return nil
	case errors.As(err, &f):
		return err
	case errors.As(err, &final):
		return fmt.Errorf("%s %s: %w", r.method, shown(r.url), final.error)
	}
	return unanswered(r.method, r.url, err, true)
}

// drain reads the rest of a short body, so that the connection can be used again.
func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, 4096) }

// stallTimer ends an attempt that makes no progress.
type stallTimer struct {
	timer  *time.Timer
	after  time.Duration
	cancel context.CancelFunc
}

// watch returns a context that ends when nothing has moved for a while.
func watch(ctx context.Context, after time.Duration) (context.Context, *stallTimer) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &stallTimer{time.AfterFunc(after, guard.Func("remote.stall",
		func() { defer cancel(); guard.Pass("remote.stall") })), after, cancel}
}

func (s *stallTimer) moved() { s.timer.Reset(s.after) }

func (s *stallTimer) stop() {
	s.timer.Stop()
	s.cancel()
}

// moving reports each read of a body that makes progress.
type moving struct {
	io.Reader
	stall *stallTimer
}

func (m moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if n > 0 {
		m.stall.moved()
	}
	return n, err
}
