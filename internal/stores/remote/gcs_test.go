package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

func TestGCS(t *testing.T) {
	generation := "17"
	b := open(t, "gs://b/d", Options{Anonymous: true}, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.URL.EscapedPath() == "/storage/v1/b/b/o" && q.Get("pageToken") == "":
			fmt.Fprint(w, `{"items":[{"name":"d/a","size":"1","generation":"3"}],"nextPageToken":"2"}`)
		case r.URL.EscapedPath() == "/storage/v1/b/b/o":
			fmt.Fprint(w, `{"prefixes":["d/c/"]}`)
		case r.URL.EscapedPath() != "/storage/v1/b/b/o/d%2Fa%20%2B%25%2Fb":
			w.WriteHeader(404)
			fmt.Fprint(w, `{"error":{"code":404,"message":"No such object"}}`)
		case q.Get("alt") != "media":
			fmt.Fprintf(w, `{"name":"d/a +%%/b","size":"26","generation":"%s","updated":"2024-05-06T07:08:09.5Z"}`,
				generation)
		default:
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Error("an object that is stored with gzip would be sent without")
			}
			w.Header().Set("X-Goog-Generation", generation) // and no look at ifGenerationMatch, as some emulators do
			serve(w, r, alphabet)
		}
	})
	if keys, err := listAll(t, b, "", "", "/"); strings.Join(keys, " ") != "a c/" || err != nil {
		t.Errorf("got %q, %v", keys, err)
	}
	o, err := b.Head(t.Context(), "a +%/b")
	if err != nil || o.Size != 26 || o.Version != "17" || o.Key != "a +%/b" {
		t.Errorf("got %+v, %v", o, err)
	}
	if got, err := read(b, o, 1, 2); got != "bc" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	generation = "18"
	if _, err := read(b, o, 1, 2); !errors.Is(err, vfs.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Head(t.Context(), "nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestGCSMissingBucket(t *testing.T) {
	b := open(t, "gs://typo", Options{Anonymous: true}, status(404))
	_, headErr := b.Head(t.Context(), "x")
	_, listErr := listAll(t, b, "", "", "/")
	for _, err := range []error{headErr, listErr} {
		if errors.Is(err, fs.ErrNotExist) || !errors.Is(err, syscall.EIO) ||
			!strings.Contains(err.Error(), "NoSuchBucket") {
			t.Errorf("got %v", err)
		}
	}
}

// TestEmulator: STORAGE_EMULATOR_HOST names another server, which gets no credentials.
func TestEmulator(t *testing.T) {
	for value, want := range map[string]string{"localhost:4443": "http://localhost:4443",
		"https://h:1/storage/": "https://h:1"} {
		t.Setenv("STORAGE_EMULATOR_HOST", value)
		b, err := Open("gs://b", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.(*gcs); got.url("x", nil).String() != want+"/storage/v1/b/b/o/x" || got.sign != nil {
			t.Errorf("%s: got %s", value, got.url("x", nil))
		}
	}
}

func TestOpen(t *testing.T) {
	noAWS(t)
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	for url, want := range map[string]string{
		"s3://b/a/b/":          "s3://b/a/b",
		"s3://b":               "s3://b",
		"gs://b/a%b":           "gs://b/a%b",
		"http://h:1/a/":        "http://h:1/a",
		"s3://":                "!expected the name of a bucket",
		"s3://key:secret@b":    "!expected the name of a bucket",
		"https:///x":           "!expected a host",
		"https://h/%zz?secret": "!not a URL",
		"ftp://h/x":            "!unknown kind of URL",
	} {
		b, err := Open(url, Options{Anonymous: true})
		var got string
		if err == nil {
			got = b.URL()
		} else if text, _ := strings.CutPrefix(want, "!"); strings.Contains(err.Error(), text) {
			got = want
		}
		if got != want || err != nil && strings.Contains(err.Error(), "?secret") {
			t.Errorf("%s: got %q, %v", url, got, err)
		}
	}
}

func TestURLs(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Clean("precomputed://gs://b/x/"), "gs://b/x"},
		{Clean("zarr://https://h/x?q=1"), "https://h/x?q=1"},
		{Clean("S3://B/X"), "s3://B/X"},
		{Base("s3://b/x y%20/z%25"), "z%25"},
		{Base("https://u:p@h/x/z%25?q=a/b"), "z%"},
		{Base("https://u:p@h"), "h"},
		{Dir("https://h/x/z?q"), "https://h/x?q"},
		{Dir("s3://b"), "s3://b"},
		{Join("s3://b/x", "../y z"), "s3://b/y z"},
		{Join("s3://b/x", "../../../y"), "s3://b/y"},
		{Join("https://h/x?q", "y z"), "https://h/x/y%20z?q"},
		{WithSecrets("https://h/x/y", "https://u:p@h/x?t"), "https://u:p@h/x/y?t"},
		{WithSecrets("https://other/x", "https://u:p@h/x?t"), "https://other/x"},
		{Display("https://u:p@h/x?t#f"), "https://h/x"},
		{Display("/a/path?x@y"), "/a/path?x@y"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, expected %s", c.got, c.want)
		}
	}
}
