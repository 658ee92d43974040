package cloudproxy

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// errAbort ends a connection without a complete answer.
var errAbort = http.ErrAbortHandler

// ServeHTTP answers one request by the rules.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rules, closed := p.begin()
	record := Request{
		Method: r.Method, Path: r.URL.RequestURI(), Range: r.Header.Get("Range"), Start: time.Now(),
		Signed: r.Header.Get("Authorization") != "" || r.URL.Query().Has("X-Amz-Signature"),
	}
	defer func() { p.end(record) }()
	var fault Fault
	if rules.Fault != nil {
		fault = rules.Fault(r)
	}
	delay := rules.Delay + fault.Pause
	if rules.Jitter > 0 {
		delay += rand.N(rules.Jitter)
	}
	if !wait(r.Context(), closed, delay) {
		panic(errAbort)
	}
	switch {
	case fault.Hang:
		wait(r.Context(), closed, time.Hour)
		panic(errAbort)
	case fault.Reset:
		panic(errAbort)
	case fault.Status != 0:
		record.Status = fault.Status
		record.Bytes = refuse(w, fault)
		return
	}
	response, err := p.ask(r, fault)
	if err != nil {
		panic(errAbort) // the server has ended
	}
	defer response.Body.Close()
	record.Status = response.StatusCode
	b := body{to: w, rate: rules.Rate, wait: func(d time.Duration) bool { return wait(r.Context(), closed, d) }}
	defer func() { record.Bytes = b.sent }()
	b.answer(response, r, fault)
}

// ask sends a request to the server.
func (p *Proxy) ask(r *http.Request, fault Fault) (*http.Response, error) {
	p.opening.RLock()
	defer p.opening.RUnlock()
	forward := r.Clone(r.Context())
	forward.URL.Scheme, forward.URL.Host = p.server.Scheme, p.server.Host
	forward.RequestURI = ""
	switch {
	case fault.Whole:
		forward.Header.Del("Range")
	case fault.Shift:
		forward.Header.Set("Range", shifted(r.Header.Get("Range"), 1))
	case fault.Always:
		forward.Header.Del("If-Match")
		forward.Header.Del("If-Unmodified-Since")
	}
	if p.direct != nil && r.Body == http.NoBody {
		return p.direct.RoundTrip(forward)
	}
	return p.transport.RoundTrip(forward)
}

// refuse answers with the status of a fault, and returns the length of the body.
func refuse(w http.ResponseWriter, f Fault) int64 {
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(f.Status)
	n, _ := io.WriteString(w, f.Body) // a client that has left
	return int64(n)
}

// body sends the answer of the server to the client.
type body struct {
	to   http.ResponseWriter
	rate int64
	sent int64
	wait func(time.Duration) bool
}

// answer copies headers and body, with the fault.
func (b *body) answer(response *http.Response, r *http.Request, f Fault) {
	header := b.to.Header()
	for name, values := range response.Header {
		header[name] = values
	}
	header.Del("Connection") // it is about the other connection
	if f.NoVersion {
		for _, name := range []string{"Etag", "Last-Modified", "X-Goog-Generation", "X-Goog-Hash"} {
			header.Del(name)
		}
	}
	length := response.ContentLength
	switch {
	case f.Size && response.StatusCode == http.StatusPartialContent:
		header.Set("Content-Range", larger(header.Get("Content-Range")))
	case f.Short && length > 1 && r.Method != http.MethodHead:
		length /= 2
		header.Set("Content-Length", strconv.FormatInt(length, 10))
		if header.Get("Content-Range") != "" {
			header.Set("Content-Range", shortened(header.Get("Content-Range"), length))
		}
	}
	b.to.WriteHeader(response.StatusCode)
	if r.Method == http.MethodHead {
		return
	}
	var from io.Reader = response.Body
	stops := (f.Cut || f.HangBody) && length > 0
	if stops {
		length /= 2
	}
	if length != response.ContentLength {
		from = io.LimitReader(from, length)
	}
	if !b.copy(from) {
		panic(errAbort)
	}
	if stops {
		if f.HangBody {
			b.wait(time.Hour)
		}
		panic(errAbort)
	}
}

// copy sends all bytes of a body. It returns false if the client or the server has ended.
func (b *body) copy(from io.Reader) bool {
	if b.rate == 0 {
		n, err := io.Copy(b.to, from)
		b.sent += n
		return b.flush(err)
	}
	const step = 20 * time.Millisecond
	for piece := max(1, b.rate*int64(step)/int64(time.Second)); ; {
		n, err := io.CopyN(b.to, from, piece)
		b.sent += n
		if err == io.EOF {
			return b.flush(nil)
		}
		if !b.flush(err) || !b.wait(step) {
			return false
		}
	}
}

func (b *body) flush(err error) bool {
	if err == nil {
		err = http.NewResponseController(b.to).Flush()
	}
	return err == nil
}

// wait returns true after the time, and false if the client or the proxy ends before.
func wait(ctx context.Context, closed <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-closed:
	}
	return false
}

// shifted returns the header Range with its start n bytes later. A range of one byte stays as it is.
func shifted(header string, n int64) string {
	var first, last int64
	if _, err := fmt.Sscanf(header, "bytes=%d-%d", &first, &last); err != nil || first+n > last {
		return header
	}
	return fmt.Sprintf("bytes=%d-%d", first+n, last)
}

// larger returns the header Content-Range of an object with a byte more.
func larger(header string) string {
	bounds, size, _ := strings.Cut(header, "/")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return header
	}
	return fmt.Sprintf("%s/%d", bounds, n+1)
}

// shortened returns the header Content-Range with n bytes.
func shortened(header string, n int64) string {
	bounds, size, _ := strings.Cut(header, "/")
	var first int64
	if _, err := fmt.Sscanf(bounds, "bytes %d-", &first); err != nil {
		return header
	}
	return fmt.Sprintf("bytes %d-%d/%s", first, first+n-1, size)
}
