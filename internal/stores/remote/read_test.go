package remote

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestRead: bytes 3 to 7 of 26, from servers that answer in many ways. No wrong byte comes without an error.
func TestRead(t *testing.T) {
	partial := func(contentRange, body string, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", contentRange)
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(206)
			io.WriteString(w, body)
		}
	}
	whole := func(body string, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name    string
		answer  func(http.ResponseWriter, *http.Request)
		version string
		err     error
		text    string // in the error
	}{
		{"as asked", partial("bytes 3-7/26", "defgh"), "", nil, ""},
		{"of unknown size", partial("bytes 3-7/*", "defgh", "Etag", `"a"`), `"a"`, nil, ""},
		{"same ETag", partial("bytes 3-7/26", "defgh", "Etag", `"a"`), `"a"`, nil, ""},
		{"other ETag", partial("bytes 3-7/26", "DEFGH", "Etag", `"b"`), `"a"`, vfs.ErrChanged,
			`expected version "a", found "b"`},
		{"weak ETag", partial("bytes 3-7/26", "defgh", "Etag", `W/"b"`), `"a"`, nil, ""}, // HEAD says the same
		{"no ETag", partial("bytes 3-7/26", "defgh"), `"a"`, nil, ""},
		{"no time", partial("bytes 3-7/26", "defgh"), "@60", vfs.ErrChanged, `expected version @60, found "a"`},
		{"same time", partial("bytes 3-7/26", "defgh", "Last-Modified", "Thu, 01 Jan 1970 00:01:00 GMT"), "@60", nil,
			""},
		{"other time", partial("bytes 3-7/26", "DEFGH", "Last-Modified", "Thu, 01 Jan 1970 00:01:01 GMT"), "@60",
			vfs.ErrChanged, "@61"},
		{"other size", partial("bytes 3-7/27", "defgh"), "", vfs.ErrChanged, "expected 26 bytes, found 27"},
		{"other range", partial("bytes 4-8/26", "efghi"), "", syscall.EIO, "Content-Range"},
		{"longer range", partial("bytes 3-8/26", "defghi"), "", syscall.EIO, "Content-Range"},
		{"no range", partial("", "defgh"), "", syscall.EIO, "Content-Range"},
		{"wrong unit", partial("lines 3-7/26", "defgh"), "", syscall.EIO, "Content-Range"},
		{"backwards", partial("bytes 7-3/26", "defgh"), "", syscall.EIO, "Content-Range"},
		{"more bytes, of no length", partial("bytes 3-7/26", "defghi"), "", syscall.EIO,
			"expected the end of the answer"},
		{"all of it", whole(alphabet), "", nil, ""},
		{"more than all", whole(alphabet + "a"), "", syscall.EIO, "expected the end of the answer"},
		{"compressed", partial("bytes 3-7/26", "\x1f\x8b\x08\x00\x00\x00\x00", "Content-Encoding", "gzip"), "",
			syscall.EIO, `Content-Encoding "gzip"`},
		{"all of another version", whole(alphabet, "Etag", `"b"`), `"a"`, vfs.ErrChanged, "found"},
		{"removed", status(404), "", vfs.ErrChanged, "removed"},
		{"replaced", status(412), `"a"`, vfs.ErrChanged, "another version"},
		{"shorter", status(416), "", vfs.ErrChanged, "another version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := ""
			b := open(t, "https://example.org/d", Options{}, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead { // what the answer does not say
					w.Header().Set("Etag", `"a"`)
					w.Header().Set("Content-Length", "26")
					return
				}
				asked = r.Header.Get("Range") + " " + r.Header.Get("If-Match")
				c.answer(w, r)
			})
			got, err := read(b, object.Object{Key: "x", Size: 26, Version: c.version}, 3, 5)
			if !errors.Is(err, c.err) || c.err == nil && (err != nil || got != "defgh") {
				t.Errorf("got %q, %v, expected %v", got, err, c.err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.text) ||
				!strings.Contains(err.Error(), "https://example.org/d/x")) {
				t.Errorf("got %v, expected %q and the URL", err, c.text)
			}
			if want := "bytes=3-7 " + strings.TrimPrefix(c.version, "@60"); asked != want {
				t.Errorf("asked for %q, expected %q", asked, want)
			}
		})
	}
}

// TestNoRanges: a server that ignores ranges serves small files only.
func TestNoRanges(t *testing.T) {
	for _, c := range []struct {
		size int64
		ok   bool
	}{{maxWhole, true}, {maxWhole + 1, false}} {
		body := strings.Repeat("x", int(c.size)-1) + "z"
		b := open(t, "http://example.org", Options{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			io.WriteString(w, body)
		})
		o := object.Object{Key: "f", Size: c.size}
		got, err := read(b, o, c.size-2, 2)
		if c.ok && (got != "xz" || err != nil) || !c.ok && (!errors.Is(err, syscall.EIO) ||
			!strings.Contains(err.Error(), "ignores ranges") || hintOf(err) == "") {
			t.Errorf("%d bytes: got %q, %v", c.size, got, err)
		}
		if all, err := read(b, o, 0, c.size); all != body || err != nil {
			t.Errorf("%d bytes: all of them: %v", c.size, err)
		}
	}
}

// TestReadBounds: a range that is not in the object needs no request.
func TestReadBounds(t *testing.T) {
	b := open(t, "http://example.org", Options{}, func(w http.ResponseWriter, r *http.Request) { t.Error("asked") })
	for _, c := range []struct{ off, n int64 }{{-1, 2}, {25, 2}, {26, 1}, {1 << 62, 1}} {
		if _, err := read(b, letters, c.off, c.n); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes from %d on: got %v", c.n, c.off, err)
		}
	}
	if _, err := read(b, letters, 26, 0); err != nil {
		t.Error(err)
	}
}

func FuzzContentRange(f *testing.F) {
	for _, seed := range []string{"bytes 0-9/10", "bytes 0-9/*", "bytes */10", "bytes -1-2/3",
		"bytes 9223372036854775807-9223372036854775807/1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, last, size, ok := parseContentRange(text)
		if ok && (first < 0 || last < first || fmt.Sprintf("bytes %d-%d/", first, last) == "" || size < -1) {
			t.Errorf("%q: got %d-%d/%d", text, first, last, size)
		}
	})
}

// TestReadPartsOfBody: what lies between the parts is dropped, in answers with the range and in those with the whole
// object.
func TestReadPartsOfBody(t *testing.T) {
	for _, c := range []struct {
		body string
		off  int64
	}{{alphabet[3:20], 3}, {alphabet, 0}} {
		parts := []vfs.Range{{Off: 3, P: make([]byte, 2)}, {Off: 5, P: make([]byte, 1)}, {Off: 18, P: make([]byte, 2)}}
		if err := fillParts(strings.NewReader(c.body), c.off, parts); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s %s", parts[0].P, parts[1].P, parts[2].P); got != "de f st" {
			t.Errorf("from byte %d: got %q", c.off, got)
		}
		if err := fillParts(strings.NewReader(c.body[:len(c.body)-8]), c.off, parts); c.off == 3 && err == nil {
			t.Error("a short body has no error")
		}
	}
}
