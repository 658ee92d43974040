package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// inProcess sends requests to a handler, without a network: time in testing/synctest passes while all goroutines wait.
type inProcess struct{ http.Handler }

func (s inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	recorder := httptest.NewRecorder()
	var failed any
	func() {
		defer func() { failed = recover() }()
		s.ServeHTTP(recorder, r)
	}()
	if err, ok := failed.(error); ok {
		return nil, err // the handler has broken the connection
	}
	answer := recorder.Result()
	answer.Request = r
	if r.Method == http.MethodHead {
		answer.Body = http.NoBody
	}
	return answer, nil
}

// open opens a URL whose server is a handler.
func open(t *testing.T, url string, o Options, h http.HandlerFunc) object.Bucket {
	t.Helper()
	b, err := Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	var c *client
	switch b := b.(type) {
	case *s3:
		c = b.client
	case *gcs:
		c = b.client
	case *web:
		c = b.client
	}
	c.http.Transport = inProcess{h}
	return b
}

// noAWS makes sure that nothing of the user's environment counts.
func noAWS(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// hintOf returns the hint of an error, or "".
func hintOf(err error) string {
	var h *hint.Error
	if errors.As(err, &h) {
		return h.Hint
	}
	return ""
}

// read reads a range of an object.
func read(b object.Bucket, o object.Object, off, n int64) (string, error) {
	p := make([]byte, n)
	err := b.Read(context.Background(), o, p, off)
	return string(p), err
}

// listAll returns the keys of a listing.
func listAll(t *testing.T, b object.Bucket, prefix, after, delimiter string) (keys []string, err error) {
	t.Helper()
	for objects, err := range b.List(context.Background(), prefix, after, delimiter) {
		for _, o := range objects {
			keys = append(keys, o.Key)
		}
		if err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// serve answers with a text, or the range of it that the request asks for.
func serve(w http.ResponseWriter, r *http.Request, text string) {
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}
