package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"testing"

	"github.com/wkwfs/wkwfs/internal/serve/web"
)

func TestGzip(t *testing.T) {
	files := newTree()
	url := start(t, files, web.Options{})
	ids := files.files["ids.raw"].data
	const tag, zipTag = `"ab000000000000000000000000000000-61a80"`, `"ab000000000000000000000000000000-61a80-gzip"`
	tests := []struct {
		path     string
		send     headers
		status   int
		encoding string
		tag      string
	}{
		{"/ids.raw", headers{"Accept-Encoding: gzip"}, 200, "gzip", zipTag},
		{"/ids.raw", headers{"Accept-Encoding: br, GZIP;q=0.5"}, 200, "gzip", zipTag},
		{"/ids.raw", headers{"Accept-Encoding: *"}, 200, "gzip", zipTag},
		{"/ids.raw", nil, 200, "", tag},
		{"/ids.raw", headers{"Accept-Encoding: gzip;q=0, *"}, 200, "", tag},
		{"/ids.raw", headers{"Accept-Encoding: br"}, 200, "", tag},
		{"/ids.raw", headers{"Accept-Encoding: gzip", "Range: bytes=0-99999"}, 206, "", tag},
		{"/ids.raw", headers{"Accept-Encoding: gzip", "If-None-Match: " + zipTag}, 304, "", zipTag},
		{"/ids.raw", headers{"Accept-Encoding: gzip", "If-None-Match: " + tag}, 304, "", tag},
		{"/ids.raw", headers{"Accept-Encoding: gzip", "Range: bytes=0-9", "If-Range: " + zipTag}, 200, "", tag},
		// noise
		{"/color/1/volume.raw", headers{"Accept-Encoding: gzip"}, 200, "", volumeTag},
		// small
		{"/color/1/volume.json", headers{"Accept-Encoding: gzip"}, 200, "", `"ab000000000000000000000000000000-11"`},
	}
	for _, test := range tests {
		reply, body, err := fetch(t, "GET", url+test.path, test.send)
		if err != nil || reply.StatusCode != test.status || reply.Header.Get("Content-Encoding") != test.encoding ||
			reply.Header.Get("ETag") != test.tag {
			t.Errorf("%s %q: status %d, encoding %q, ETag %s, error %v", test.path, test.send, reply.StatusCode,
				reply.Header.Get("Content-Encoding"), reply.Header.Get("ETag"), err)
		}
		if !slices.Contains(reply.Header.Values("Vary"), "Accept-Encoding") {
			t.Errorf("%s %q: Vary is %q", test.path, test.send, reply.Header.Values("Vary"))
		}
		if test.encoding == "" {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, ids) {
			t.Errorf("%q: %d bytes, error %v", test.send, len(plain), err)
		}
	}
}
