package remote

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/tests/vfstest"
)

// TestFileSystems: the objects of each kind of server are a file system.
func TestFileSystems(t *testing.T) {
	noAWS(t)
	servers := map[string]func(map[string]string) http.HandlerFunc{
		"s3://b/d": func(o map[string]string) http.HandlerFunc {
			return (&fakeS3{objects: o, page: 2, refuse: allow}).ServeHTTP
		},
		"gs://b/d":               serveGCS,
		"https://example.org/d/": serveIndexes,
	}
	defer func() { answers.changed = make(chan struct{}) }() // a channel of the bubble cannot be closed after it
	synctest.Test(t, func(t *testing.T) {
		for url, server := range servers {
			objects := map[string]string{}
			for name, content := range vfstest.Shapes() {
				objects["d/"+name] = string(content)
			}
			b := open(t, url, Options{Anonymous: true, Region: "eu-central-1"}, server(objects))
			vfstest.Test(t, object.NewFS(b, object.Options{}), vfstest.Expect{
				Files: vfstest.Shapes(),
				Has: "tree.Speed tree.ChecksKind tree.Stat tree.ReadDir tree.List tree.Describe" +
					" file.ReadAtContext file.ReadParts file.ReadCached info.Version info.Stored",
				Replace: func(name string, content []byte) { objects["d/"+name] = string(content) },
				Forget:  func() { time.Sleep(2 * time.Minute) },
			})
		}
	})
}

func allow(*http.Request) string { return "" }

// below returns the keys that start with prefix, those that have a slash after it cut after the slash, each once and in
// order.
func below(objects map[string]string, prefix, delimiter string) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if first, _, isDir := strings.Cut(rest, "/"); isDir && delimiter != "" {
			key = prefix + first + "/"
		}
		if ok && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// serveGCS is a small server of Google Cloud Storage with bucket b.
func serveGCS(objects map[string]string) http.HandlerFunc {
	describe := func(key string) map[string]any {
		return map[string]any{"name": key, "size": fmt.Sprint(len(objects[key])),
			"generation": fmt.Sprint(len(objects[key]) + 1), "updated": "2024-05-06T07:08:09.5Z"}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		key := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/storage/v1/b/b/o"), "/")
		text, ok := objects[key]
		answer := map[string]any{}
		switch {
		case key == "":
			var items []any
			var prefixes []string
			for _, key := range below(objects, q.Get("prefix"), q.Get("delimiter")) {
				if strings.HasSuffix(key, "/") {
					prefixes = append(prefixes, key)
				} else {
					items = append(items, describe(key))
				}
			}
			answer["items"], answer["prefixes"] = items, prefixes
		case !ok:
			w.WriteHeader(404)
		case q.Get("alt") == "media":
			w.Header().Set("X-Goog-Generation", fmt.Sprint(len(text)+1))
			serve(w, r, text)
			return
		default:
			answer = describe(key)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// serveIndexes is a web server that lists directories.
func serveIndexes(objects map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.URL.Path, "/")
		text, ok := objects[key]
		found := below(objects, key, "/")
		switch {
		case ok:
			w.Header().Set("Etag", fmt.Sprintf(`"%d"`, len(text)))
			serve(w, r, text)
		case strings.HasSuffix(key, "/") && len(found) > 0:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<title>Index of /%s</title>", html.EscapeString(key))
			for _, f := range found {
				fmt.Fprintf(w, `<a href="%s">x</a>`,
					html.EscapeString((&url.URL{Path: strings.TrimPrefix(f, key)}).String()))
			}
		case len(below(objects, key+"/", "/")) > 0:
			http.Redirect(w, r, r.URL.EscapedPath()+"/", http.StatusMovedPermanently)
		default:
			w.WriteHeader(404)
		}
	}
}
