package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A client has stallTime to take the next stepSize bytes. The whole of a reply may
// take any time.
const (
	stallTime = 30 * time.Second
	stepSize  = 64 << 10
)

// pieceSize is how many bytes are read, and then written, at a time.
const pieceSize = 256 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// response is a reply whose status and headers wait for its first bytes: so that what
// cannot be read can still become an error, and that it can be seen whether the bytes
// are worth compressing.
type response struct {
	client      http.ResponseWriter
	control     *http.ResponseController
	mayCompress bool // the client takes gzip, and it is a whole file
	hasGzip     bool // what the client has of it already, is compressed

	status int
	begun  bool // status and headers were sent
	sent   int64
	zip    *gzip.Writer
	failed error // of writing to the client
}

var _ io.ReaderFrom = (*response)(nil)

func newResponse(w http.ResponseWriter) *response {
	return &response{client: w, control: http.NewResponseController(w)}
}

func (w *response) Header() http.Header { return w.client.Header() }

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write sends the bytes, and before the first ones the headers.
func (w *response) Write(p []byte) (int, error) {
	w.begin(p)
	if w.zip != nil {
		return w.zip.Write(p)
	}
	return steady{w}.Write(p)
}

// ReadFrom sends what src has. Bytes that were read together with an error are not sent.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	piece := pieces.Get().(*[pieceSize]byte)
	defer pieces.Put(piece)
	total := int64(0)
	for {
		n, err := fill(src, piece[:])
		if err != nil && err != io.EOF {
			return total, err
		}
		if n > 0 {
			if _, err := w.Write(piece[:n]); err != nil {
				return total, err
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
	}
}

// fill reads until p is full or src ends.
func fill(src io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var read int
		read, err = src.Read(p[n:])
		n += read
	}
	return n, err
}

// begin sends status and headers; first is the beginning of what follows.
func (w *response) begin(first []byte) {
	if w.begun {
		return
	}
	w.begun = true
	w.WriteHeader(http.StatusOK)
	header := w.Header()
	switch {
	case w.status == http.StatusNotModified && w.hasGzip:
		header.Set("ETag", gzipTag(header.Get("ETag")))
	case w.status == http.StatusOK && w.mayCompress && worthCompressing(first):
		header.Set("Content-Encoding", "gzip")
		header.Set("ETag", gzipTag(header.Get("ETag")))
		header.Del("Content-Length")
		header.Del("Accept-Ranges") // of the compressed bytes there are none
		w.zip = newGzip(steady{w})
	}
	w.extend()
	w.client.WriteHeader(w.status)
}

// finish completes a reply that nothing went wrong with.
func (w *response) finish() error {
	w.begin(nil)
	if w.zip != nil {
		w.failed = w.zip.Close()
		putGzip(w.zip)
	}
	if w.failed != nil {
		return errWrite
	}
	return nil
}

// error replies with a text, in place of what was to be sent.
func (w *response) error(status int, text string) {
	header := w.Header()
	for _, name := range []string{"Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified", "Content-Security-Policy"} {
		header.Del(name)
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	switch status {
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	case http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge:
		header.Set("Connection", "close") // a body that may follow is not read
	}
	w.status, w.mayCompress = status, false
	// Nobody is left to tell if this does not arrive.
	_, _ = io.WriteString(w, strings.TrimSpace(text)+"\n")
}

// extend gives the client time to take what is written next. Not every
// ResponseWriter can; those of a server can.
func (w *response) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(stallTime)) }

// steady writes to the client in steps, each of which may take stallTime.
type steady struct{ w *response }

func (s steady) Write(p []byte) (n int, err error) {
	for n < len(p) && s.w.failed == nil {
		s.w.extend()
		var wrote int
		wrote, s.w.failed = s.w.client.Write(p[n:min(n+stepSize, len(p))])
		n += wrote
	}
	s.w.sent += int64(n)
	return n, s.w.failed
}
