package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

// A client has stallTimeout to accept the next stepSize bytes. A whole reply may take any time.
const (
	stallTimeout = 30 * time.Second
	stepSize     = 64 << 10
)

// bufferSize is how many bytes are read, and then written, at a time.
const bufferSize = 256 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// response is an http.ResponseWriter that sends status and headers together with the first bytes of the body. Until
// then, an error can replace the reply, and the first bytes show whether compression pays.
type response struct {
	client        http.ResponseWriter
	control       *http.ResponseController
	slot          *slot // nil: the request needs none
	mayCompress   bool  // the client accepts gzip, and the reply is a whole file
	clientHasGzip bool  // If-None-Match has the tag of a compressed reply

	status      int
	headersSent bool
	sent        int64        // bytes of the body
	compressor  *gzip.Writer // nil: the body is not compressed
	err         error        // of writing to the client
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

func (w *response) Write(p []byte) (int, error) {
	w.sendHeaders(p)
	if w.compressor != nil {
		return w.compressor.Write(p)
	}
	return stepWriter{w}.Write(p)
}

// ReadFrom sends src up to its end. It does not send bytes that were read together with an error.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	total := int64(0)
	for {
		n, err := fill(buffer[:], src)
		if err != nil && err != io.EOF {
			return total, err
		}
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return total, err
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
	}
}

// fill reads until p is full or src fails. io.ReadFull would not distinguish the end of src from its error
// io.ErrUnexpectedEOF.
func fill(p []byte, src io.Reader) (n int, err error) {
	for n < len(p) && err == nil {
		var read int
		read, err = src.Read(p[n:])
		n += read
	}
	return n, err
}

// sendHeaders sends status and headers, unless they were sent. first holds the first bytes of the body.
func (w *response) sendHeaders(first []byte) {
	if w.headersSent {
		return
	}
	w.headersSent = true
	w.WriteHeader(http.StatusOK)
	header := w.Header()
	switch {
	case w.status == http.StatusNotModified && w.clientHasGzip:
		header.Set("ETag", gzipTag(header.Get("ETag")))
	case w.status == http.StatusOK && w.mayCompress && worthCompressing(first):
		header.Set("Content-Encoding", "gzip")
		header.Set("ETag", gzipTag(header.Get("ETag")))
		header.Del("Content-Length")
		header.Del("Accept-Ranges") // there are no ranges of compressed bytes
		w.compressor = newGzip(stepWriter{w})
	}
	w.extendDeadline()
	w.client.WriteHeader(w.status)
}

// finish completes a reply without errors.
func (w *response) finish() error {
	w.sendHeaders(nil)
	if w.compressor != nil {
		w.err = w.compressor.Close()
		putGzip(w.compressor)
	}
	if w.err != nil {
		return errWrite
	}
	return nil
}

// writeError sends an error text in place of the reply.
func (w *response) writeError(status int, text string) {
	header := w.Header()
	for _, name := range []string{"Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified"} {
		header.Del(name)
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("Cache-Control", "no-store")
	switch status {
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	case http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge:
		header.Set("Connection", "close") // the server does not read the body of the request
	}
	w.status, w.mayCompress = status, false
	_, _ = io.WriteString(w, hint.EscapeLines(strings.TrimSpace(text))+"\n") // if it fails, the client is gone
}

// extendDeadline gives the client stallTimeout for the next write. It does nothing with a ResponseWriter that has no
// deadlines, as in tests.
func (w *response) extendDeadline() { _ = w.control.SetWriteDeadline(time.Now().Add(stallTimeout)) }

// stepWriter writes to the client in steps. Each step may take stallTimeout.
type stepWriter struct{ w *response }

func (s stepWriter) Write(p []byte) (n int, err error) {
	for n < len(p) && s.w.err == nil {
		s.w.extendDeadline()
		var wrote int
		wrote, s.w.err = s.w.slot.write(func() (int, error) { return s.w.client.Write(p[n:min(n+stepSize, len(p))]) })
		n += wrote
	}
	s.w.sent += int64(n)
	return n, s.w.err
}
