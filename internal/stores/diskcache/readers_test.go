package diskcache

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/stores/remote"
)

// TestReadersOfOneURL: buckets of one cache whose URLs differ in query, user or password only. Each has its own bytes,
// though the server gives all objects the same ETag, size and time, and no user reads what the server refuses to show.
// The cache has no secret in clear.
func TestReadersOfOneURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Method == http.MethodGet && password == "wrong" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content := strings.Repeat(user+password+r.URL.RawQuery+".", 1000)[:1000]
		w.Header().Set("Etag", `"same"`)
		http.ServeContent(w, r, "", time.Unix(0, 0), strings.NewReader(content))
	}))
	defer server.Close()
	dir := t.TempDir()
	c := openCache(t, dir, Options{})
	host := strings.TrimPrefix(server.URL, "http://")
	urls := []string{
		"http://" + host + "/d", "http://" + host + "/d?token=geheim", "http://" + host + "/d?token=geheim2",
		"http://" + host + "/d?", "http://geheim@" + host + "/d",
		"http://geheim:geheim@" + host + "/d", "http://geheim:geheim3@" + host + "/d",
		"http://geheim:geheim@" + host + "/d?token=geheim", "http://a:wrong@" + host + "/d",
	}
	for round := range 2 {
		for _, url := range urls {
			source, err := remote.Open(url, remote.Options{Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			b := c.Bucket(source)
			o, err := b.Head(t.Context(), "k")
			if err != nil {
				t.Fatal(err)
			}
			got, want := make([]byte, 1000), make([]byte, 1000)
			wantErr := source.Read(t.Context(), o, want, 0)
			gotErr := b.Read(t.Context(), o, got, 0)
			if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !bytes.Equal(got, want) {
				t.Errorf("round %d, %s: got %.20q, %v, expected %.20q, %v", round, url, got, gotErr, want, wantErr)
			}
			if strings.Contains(url, "wrong") == (gotErr == nil) {
				t.Errorf("%s: got %v", url, gotErr)
			}
		}
		c = flush(t, c, dir)
	}
	for _, file := range pieceFiles(t, dir) {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(file, "geheim") || bytes.Contains(text[:pageSize], []byte("geheim")) {
			t.Errorf("%s, %v: has a secret", file, err)
		}
	}
	if n := len(pieceFiles(t, dir)); n != len(urls)-2 { // "?" is no query, and one user reads nothing
		t.Errorf("%d pieces", n)
	}
}

// readBy is a bucket that is read with credentials.
type readBy struct {
	*fakeBucket
	reader string
}

func (b *readBy) Reader() string { return b.reader }

// TestReadersOfOneBucket: credentials that may list a bucket do not get bytes that others have read.
func TestReadersOfOneBucket(t *testing.T) {
	o := object.Object{Key: "k", Size: 100, Version: "1"}
	fake := newFakeBucket(o)
	c := openCache(t, t.TempDir(), Options{})
	for _, test := range []struct {
		reader string
		want   int // requests
	}{{"key A", 1}, {"key B", 1}, {"", 1}, {"key A", 0}, {"key B", 0}, {"", 0}} {
		check(t, c.Bucket(&readBy{fake, test.reader}), o, 0, 100)
		if n := len(fake.taken()); n != test.want {
			t.Errorf("%+v: %d requests", test, n)
		}
		waitWritten(c)
	}
}
