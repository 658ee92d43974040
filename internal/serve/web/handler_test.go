package web_test

import (
	"bytes"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

const volumeTag = `"ab000000000000000000000000000000-100000"`

func TestReplies(t *testing.T) {
	files := newTree()
	url := start(t, files, web.Options{Name: "cortex"})
	data := files.files["color/1/volume.raw"].data
	tests := []struct {
		method, path string
		send         headers
		status       int
		want         headers // in the reply; an empty value means that the header is missing
		body         []byte  // nil: not compared
	}{
		{"GET", "/color/1/volume.raw", nil, 200, headers{"Content-Type: application/octet-stream", "ETag: " + volumeTag,
			"Content-Length: 1048576",
			"Accept-Ranges: bytes", "Last-Modified: Mon, 06 May 2024 07:08:09 GMT", "Cache-Control: no-cache",
			"X-Content-Type-Options: nosniff",
			"Content-Security-Policy: default-src 'none'; sandbox"}, data},
		{"HEAD", "/color/1/volume.raw", nil, 200, headers{"Content-Length: 1048576", "ETag: " + volumeTag,
			"Accept-Ranges: bytes"}, []byte{}},
		{"GET", "/empty.raw", nil, 200, headers{"Content-Length: 0"}, []byte{}},
		{"GET", "/color/1/volume.json", nil, 200, headers{"Content-Type: application/json"},
			[]byte(`{"dtype":"uint8"}`)},
		{"GET", "/a%20b&c%25%3Cd%3E.txt", nil, 200, headers{"Content-Type: text/plain; charset=utf-8"},
			[]byte("hello")},

		{"GET", "/color/1/volume.raw", headers{"Range: bytes=5-9"}, 206, headers{"Content-Range: bytes 5-9/1048576",
			"Content-Length: 5"}, data[5:10]},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=262143-262144"}, 206, nil, data[262143:262145]},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=1048570-"}, 206, nil, data[1048570:]},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=-3"}, 206, nil, data[1<<20-3:]},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=0-9999999"}, 206, nil, data},
		{"HEAD", "/color/1/volume.raw", headers{"Range: bytes=5-9"}, 206, headers{"Content-Length: 5"}, []byte{}},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=1048576-"}, 416, headers{"Content-Range: bytes */1048576"},
			nil},
		{"GET", "/color/1/volume.raw", headers{"Range: lines=1-2"}, 416, nil, nil},

		{"GET", "/color/1/volume.raw", headers{"If-None-Match: " + volumeTag}, 304, headers{"ETag: " + volumeTag},
			[]byte{}},
		{"GET", "/color/1/volume.raw", headers{"If-None-Match: \"x\", " + volumeTag}, 304, nil, []byte{}},
		{"GET", "/color/1/volume.raw", headers{`If-None-Match: "x"`}, 200, nil, data},
		{"GET", "/color/1/volume.raw", headers{"If-Modified-Since: Mon, 06 May 2024 07:08:09 GMT"}, 304, nil, []byte{}},
		{"GET", "/color/1/volume.raw", headers{"If-Modified-Since: Mon, 06 May 2024 07:08:08 GMT"}, 200, nil, data},
		{"GET", "/color/1/volume.raw", headers{`If-Match: "x"`}, 412, nil, nil},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=5-9", "If-Range: " + volumeTag}, 206, nil, data[5:10]},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=5-9", `If-Range: "x"`}, 200, nil, data},
		{"GET", "/color/1/volume.raw", headers{"Range: bytes=5-9", "If-Range: Mon, 06 May 2024 07:08:09 GMT"}, 200, nil,
			data},

		{"GET", "/nothing", nil, 404, headers{"Content-Type: text/plain; charset=utf-8", "Cache-Control: no-store",
			"ETag: "}, nil},
		{"GET", "/color/1/volume.raw/", nil, 404, nil, nil},
		{"GET", "/color/1/volume.raw/x", nil, 404, nil, nil},
		{"GET", "/.wkwfs/preview/color/1/other.png", nil, 404, nil, nil},
		{"GET", "/.wkwfs/", nil, 404, nil, nil},
		{"GET", "/shut.raw", nil, 403, nil, nil},
		{"GET", "/many.raw", nil, 503, headers{"Retry-After: 1"}, nil},
		{"GET", "/gone.raw", nil, 500, headers{"ETag: "}, []byte("open color/1/z0/y0/x0.wkw: file does not exist\n")},
		{"GET", "/dead.raw", nil, 500, headers{"Content-Range: ", "Accept-Ranges: ", "Last-Modified: "},
			[]byte(errBroken.Error() + "\n")},
		{"GET", "/dead.raw", headers{"Range: bytes=5-9"}, 500, headers{"Content-Range: "},
			[]byte(errBroken.Error() + "\n")},
		{"GET", "/broken.raw", headers{"Range: bytes=5-9"}, 206, nil, noise(10)[5:]},
		{"GET", "/broken.raw", headers{"Range: bytes=2000000-"}, 500, nil, []byte(errBroken.Error() + "\n")},
		{"GET", "/broken.raw", headers{"Range: bytes=5-9,2000000-2000001"}, 500, nil, []byte(errBroken.Error() + "\n")},
		{"HEAD", "/dead.raw", nil, 200, headers{"Content-Length: 1000"}, []byte{}},

		{"POST", "/color/1/volume.raw", nil, 405, headers{"Allow: GET, HEAD, OPTIONS"}, nil},
		{"PUT", "/x", nil, 405, nil, nil},
		{"DELETE", "/ids.raw", nil, 405, nil, nil},
	}
	for _, test := range tests {
		name := strings.Join(append([]string{test.method, test.path}, test.send...), " ")
		reply, body, err := fetch(t, test.method, url+test.path, test.send)
		if err != nil || reply.StatusCode != test.status {
			t.Errorf("%s: status %d, error %v, want status %d", name, reply.StatusCode, err, test.status)
		}
		if test.body != nil && !bytes.Equal(body, test.body) {
			t.Errorf("%s: %d bytes, want %d:\n%.200q\n%.200q", name, len(body), len(test.body), body, test.body)
		}
		for _, line := range test.want {
			key, want, _ := strings.Cut(line, ": ")
			if got := reply.Header.Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
	}
}

// TestChangeAndRange: a download does not continue with the bytes of another version.
func TestChangeAndRange(t *testing.T) {
	files := newTree()
	url := start(t, files, web.Options{})
	reply, _, _ := fetch(t, "GET", url+"/color/1/volume.raw", headers{"Range: bytes=0-9"})
	tag := reply.Header.Get("ETag")
	changed := &leaf{data: bytes.Repeat([]byte{9}, 1<<20), version: 1}
	files.set("color/1/volume.raw", changed)

	reply, body, _ := fetch(t, "GET", url+"/color/1/volume.raw", headers{"Range: bytes=10-19", "If-Range: " + tag})
	if reply.StatusCode != 200 || !bytes.Equal(body, changed.data) || reply.Header.Get("ETag") == tag {
		t.Errorf("status %d, %d bytes, ETag %s: want all of the new version", reply.StatusCode, len(body),
			reply.Header.Get("ETag"))
	}
	if reply, _, _ = fetch(t, "GET", url+"/color/1/volume.raw",
		headers{"If-None-Match: " + tag}); reply.StatusCode != 200 {
		t.Errorf("status %d for the ETag of the old version", reply.StatusCode)
	}
}

func TestHeadReadsNothing(t *testing.T) {
	files := newTree()
	url := start(t, files, web.Options{})
	for _, h := range []headers{nil, {"Range: bytes=0-99"}, {"Range: bytes=0-9,20-29"}, {"Accept-Encoding: gzip"}} {
		for _, name := range []string{"/color/1/volume.raw", "/ids.raw"} {
			fetch(t, "HEAD", url+name, h)
		}
	}
	fetch(t, "GET", url+"/color/1/volume.raw", headers{"If-None-Match: " + volumeTag})
	if n := files.read.Load(); n != 0 {
		t.Errorf("%d bytes were read", n)
	}
}

func TestManyRanges(t *testing.T) {
	files := newTree()
	url := start(t, files, web.Options{})
	data := files.files["color/1/volume.raw"].data
	reply, body, err := fetch(t, "GET", url+"/color/1/volume.raw", headers{"Range: bytes=0-0,100-199,-7"})
	if err != nil || reply.StatusCode != 206 {
		t.Fatalf("status %d, error %v", reply.StatusCode, err)
	}
	_, parameters, err := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	for _, want := range [][]byte{data[:1], data[100:200], data[1<<20-7:]} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(part); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, error %v", part.Header.Get("Content-Range"), len(got), err)
		}
	}
}

// TestDamageInTheMiddle: a reply that fails after its first byte does not look complete.
func TestDamageInTheMiddle(t *testing.T) {
	files := newTree()
	files.set("ids.raw", &leaf{data: bytes.Repeat([]byte{1, 2, 3, 4}, 200_000), broken: 600_000})
	log, text := newLog(slog.LevelWarn)
	server := httptest.NewServer(web.Handler(files, web.Options{Log: log}))
	for _, test := range []struct {
		path string
		send headers
	}{
		{"/broken.raw", nil},
		{"/broken.raw", nil},
		{"/broken.raw", headers{"Range: bytes=500000-1500000"}},
		{"/broken.raw", headers{"Range: bytes=0-500000,1000000-1500000"}},
		{"/ids.raw", headers{"Accept-Encoding: gzip"}},
		{"/short.raw", headers{"Range: bytes=0-0,900-1100"}},
	} {
		reply, body, err := fetch(t, "GET", server.URL+test.path, test.send)
		if err == nil && reply.StatusCode < 400 {
			t.Errorf("%s %q: status %d and %d bytes look complete", test.path, test.send, reply.StatusCode, len(body))
		}
	}
	server.Close()
	if n := strings.Count(text.String(), "block 7 at byte 4096"); n != 1 {
		t.Errorf("the damage is logged %d times:\n%s", n, text)
	}
	if n := strings.Count(text.String(), "short.raw"); n != 1 {
		t.Errorf("the short file is logged %d times:\n%s", n, text)
	}
}

func TestTraversal(t *testing.T) {
	handler := web.Handler(newTree(), web.Options{}) // the tree panics if a path is not valid
	for _, path := range []string{"/../x", "/..", "/color/../ids.raw", "/color/./1", "//ids.raw", "//", "/color//1",
		"/color/1//", "/./", "/%2e%2e/x",
		"/color%2f..%2f..%2fx", "/.wkwfs/preview/../middle.png", "/.wkwfs/preview//middle.png", "/.wkwfs/../ids.raw",
		"/.wkwfs/preview/color/../color/1/middle.png", "/..%5c..%5cx", "/color/1/%00"} {
		r := httptest.NewRequest("GET", "http://host/", nil)
		u, err := r.URL.Parse("http://host" + path)
		if err != nil {
			t.Fatal(err)
		}
		u.Path, u.RawPath = strings.NewReplacer("%2e", ".", "%2f", "/", "%5c", `\`, "%00", "\x00").Replace(path), path
		r.URL = u
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != 404 {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
}

func TestAccessLog(t *testing.T) {
	log, text := newLog(slog.LevelDebug)
	server := httptest.NewServer(web.Handler(newTree(), web.Options{Log: log, Token: "secret"}))
	fetch(t, "GET", server.URL+"/ids.raw?token=secret", headers{"Range: bytes=0-9"})
	server.Close()
	if got := text.String(); !strings.Contains(got,
		"method=GET path=/ids.raw range=\"bytes=0-9\" status=206 bytes=10 ") || strings.Contains(got, "secret") {
		t.Errorf("log:\n%s", got)
	}
}

func TestBodyIsRefused(t *testing.T) {
	url := start(t, newTree(), web.Options{})
	r, err := http.NewRequest("GET", url+"/ids.raw", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != 413 || !reply.Close {
		t.Errorf("status %d, connection closed: %v", reply.StatusCode, reply.Close)
	}
}
