package remote

import (
	"errors"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// reading is how a server, or a proxy and the server after it, finds a file by the path of a request.
type reading struct {
	decodes   int  // how often escapes are decoded
	backslash bool // "\" separates names, as on Windows
	params    bool // what starts with ";" in an element does not count, as in Java
	nul       bool // names end at NUL, as in C
	joins     bool // the rest of the path is joined to a directory: an absolute one replaces it, as in Python
	overlong  bool // "/" and "." may have two bytes in UTF-8
	trims     bool // spaces and dots at the end of names do not count, as on Windows
}

// readings yields all ways to read a path.
func readings(yield func(reading) bool) {
	for n := range 3 << 6 {
		flag := func(bit int) bool { return n>>bit&1 == 1 }
		if !yield(reading{n >> 6, flag(0), flag(1), flag(2), flag(3), flag(4), flag(5)}) {
			return
		}
	}
}

// file returns the path of the file of a path below the directory "/srv", for a request below "/x/", which is that
// directory. It returns "" for a request that is refused.
func (r reading) file(escaped string) string {
	for n := 0; n <= r.decodes && strings.Contains(escaped, "%"); n++ {
		escaped = decodeAll(escaped)
	}
	if r.overlong {
		escaped = strings.NewReplacer("\xc0\xae", ".", "\xc0\xaf", "/").Replace(escaped)
	}
	if r.backslash {
		escaped = strings.ReplaceAll(escaped, `\`, "/")
	}
	rest, ok := strings.CutPrefix(escaped, "/x/")
	if !ok {
		return ""
	}
	var names []string
	for name := range strings.SplitSeq(rest, "/") {
		if r.params {
			name, _, _ = strings.Cut(name, ";")
		}
		if r.nul {
			name, _, _ = strings.Cut(name, "\x00")
		}
		if r.trims {
			name = strings.TrimRight(name, " ")
		}
		names = append(names, name)
	}
	rest = strings.Join(names, "/")
	if r.joins && strings.HasPrefix(rest, "/") {
		return path.Clean(rest)
	}
	return path.Join("/srv", rest)
}

// decodeAll decodes all escapes once, and leaves what is none, as lenient servers do.
func decodeAll(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+3 <= len(s) {
			if c, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sequences yields all texts of up to n of the pieces.
func sequences(n int, pieces []string) iter.Seq[string] {
	var all func(prefix string, n int, yield func(string) bool) bool
	all = func(prefix string, n int, yield func(string) bool) bool {
		if n == 0 {
			return true
		}
		for _, piece := range pieces {
			if !yield(prefix+piece) || !all(prefix+piece, n-1, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(string) bool) { all("", n, yield) }
}

// pathPieces are what paths that lead out are made of.
var pathPieces = []string{"a", "/", "..", ".", `\`, "%2e", "%2F", "%5c", "%25", "2e", "2f", "5C", ";", "%3b", "%00",
	"%c0", "%ae", "%af", "%20"}

func outOf(file string) bool {
	return file != "" && file != "/srv" && !strings.HasPrefix(file, "/srv/")
}

// TestNoPathLeadsOut: whatever a server decodes, a URL or a name that is taken for one in the source is one. The URLs
// are all of up to three pieces, also after "..".
func TestNoPathLeadsOut(t *testing.T) {
	b := open(t, "http://h/x", Options{}, func(http.ResponseWriter, *http.Request) {}).(*web)
	below, refused := 0, 0
	try := func(text string) {
		urlIsBelow := IsBelow("http://h/x/"+text, "http://u:p@h/x?t")
		_, err := b.ask(http.MethodGet, text)
		if !urlIsBelow {
			refused++
		} else {
			below++
		}
		if !urlIsBelow && err != nil {
			return
		}
		sent := strings.TrimPrefix(Clean("http://h/x/"+text), "http://h") + "/"
		for r := range readings {
			if file := r.file(sent); urlIsBelow && outOf(file) {
				t.Fatalf("URL %q: %+v opens %s", text, r, file)
			}
			if file := r.file(b.url(text).EscapedPath()); err == nil && outOf(file) {
				t.Fatalf("name %q: %+v opens %s", text, r, file)
			}
		}
	}
	pieces, least := 3, 1000
	if testing.Short() { // this starts no goroutine
		pieces, least = 2, 50
	}
	for text := range sequences(pieces, pathPieces) {
		try(text)
		try(".." + text)
	}
	if below < least || refused < least {
		t.Errorf("%d URLs below and %d not: one of them was hardly tried", below, refused)
	}
}

// TestIsBelow: which URLs are in a source. The pairs are what is written in metadata.
func TestIsBelow(t *testing.T) {
	const source = "https://u:p@h/x%20y/z?t"
	for _, c := range []struct {
		url, root string
		want      bool
	}{
		{"https://h/x%20y/z", source, true},
		{"https://h/x%20y/z/1", source, true},
		{"https://h/x y/z/1", source, true},
		{"https://h/%78%20y/%7a/1", source, true},
		{"https://h/x%20y/z/50%25", source, true},
		{"https://h/x%20y/z/.zarray", source, true},
		{"https://h/x%20y/z/a;b/..c/d..", source, true},
		{`https://h/x%20y/z/a\b`, source, true},
		{"https://H:443/x%20y/z/1", source, true},
		{"HTTPS://h:/x%20y/z/1", source, true},
		{"https://other:secret@h/x%20y/z/1?query#fragment", source, true},
		{"https://h/x%20y/zz", source, false},
		{"https://h/x%20y", source, false},
		{"https://h", source, false},
		{"http://h/x%20y/z", source, false},
		{"https://h:444/x%20y/z", source, false},
		{"http://h:443/x%20y/z", source, false},
		{"https://h.evil.example.org/x%20y/z", source, false},
		{"https://h@evil.example.org/x%20y/z", source, false},
		{`https://h\@evil.example.org/x%20y/z`, source, false},
		{"https://evil.example.org/x%20y/z?@h/", source, false},
		{"https://h/x%2520y/z/1", source, false},
		{"https://h/x%20y%2fz/1", source, false},
		{"https://h/x%20y/z/../w", source, false},
		{"https://h/x%20y/z/%2E%2e/w", source, false},
		{"https://h/x%20y/z/..%2fw", source, false},
		{"https://h/x%20y/z/..%5cw", source, false},
		{`https://h/x%20y/z/..\w`, source, false},
		{"https://h/x%20y/z/a/..;/..;v=1/w", source, false},
		{"https://h/x%20y/z/%252e%252e/w", source, false},
		{"https://h/x%20y/z/..%25252fw", source, false},
		{"https://h/x%20y/z/..%252f%25zz", source, false},
		{"https://h/x%20y/z/%c0%ae%c0%ae/w", source, false},
		{"https://h/x%20y/z/..%00/w", source, false},
		{"https://h/x%20y/z/..%20/w", source, false},
		{"https://h/x%20y/z//etc", source, false},
		{"https://h/x%20y/z/%2fetc", source, false},
		{"https://h/x%20y/z/./1", source, false},
		{"https://h/a/1", "https://h", true},
		{"https://h/..%2f1", "https://h", false},
		{"s3://b/x/1", "s3://b/x", true},
		{"s3://B/x/1", "s3://b/x", false},
		{"s3://b/x%20y/1", "s3://b/x y", false},
		{"s3://b/x/../y", "s3://b/x", false},
		{"s3://b/x/..%2fy", "s3://b/x", false},
		{"gs://b/x/1", "s3://b/x", false},
	} {
		if got := IsBelow(Clean(c.url), Clean(c.root)); got != c.want {
			t.Errorf("%s in %s: got %t", c.url, c.root, got)
		}
	}
}

// TestNamesThatLeadOut: no request is sent for a name that a server may take for a path out of the source, and it is
// not absent.
func TestNamesThatLeadOut(t *testing.T) {
	b := open(t, "https://u:p@h/x", Options{}, func(w http.ResponseWriter,
		r *http.Request) {
		t.Errorf("asked for %v", r.URL)
	})
	for _, key := range []string{`..\y`, "..%2fy", "a/%2e%2e/%2e%2e/y", "..;x/y", "%2fetc"} {
		_, headErr := b.Head(t.Context(), key)
		_, readErr := read(b, object.Object{Key: key, Size: 26}, 0, 1)
		_, listErr := listAll(t, b, key+"/", "", "/")
		for _, err := range []error{headErr, readErr, listErr} {
			if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), "https://h/x/") ||
				strings.Contains(err.Error(), "u:p") {
				t.Errorf("%s: got %v", key, err)
			}
		}
	}
}
