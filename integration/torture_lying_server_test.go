package integration

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// lyingServer is a web server, or a server of S3, of a directory. It lies about what lies below the layer v.
type lyingServer struct {
	*httptest.Server
	index string // of directories: "html", "json", or "" for none
	ended chan struct{}

	mu     sync.Mutex
	dir    string
	number int // of the version that dir has
	lies   []lie
	random *rand.Rand
}

// lie is what a server does wrong with some of its answers.
type lie struct {
	Kind  string `json:"kind"`   // one of lies
	Path  string `json:"path"`   // that has this in it
	OneIn int    `json:"one_in"` // of so many answers
}

// answering is an answer that the server is about to give.
type answering struct {
	s     *lyingServer
	w     http.ResponseWriter
	r     *http.Request
	truth *httptest.ResponseRecorder
}

// lies are all lies. What a server says consistently cannot be known to be a lie: that an object does not exist, that a
// directory has no more entries, or other voxels of the right length. No lie here says that.
var lies = map[string]func(a answering){
	"longer":   func(a answering) { a.send(len(a.body())+100, a.body()) },
	"shorter":  func(a answering) { a.send(len(a.body())/2, a.body()[:len(a.body())/2]) },
	"cut":      func(a answering) { a.send(len(a.body()), a.body()[:len(a.body())/2]); panic(http.ErrAbortHandler) },
	"shift":    func(a answering) { a.again(func(r *http.Request) { shiftRange(r) }) },
	"size":     func(a answering) { a.set("Content-Range", a.get("Content-Range")+"1"); a.sendTruth() },
	"range":    func(a answering) { a.set("Content-Range", "bytes 5-3/x"); a.sendTruth() },
	"no range": func(a answering) { a.truth.Header().Del("Content-Range"); a.sendTruth() },
	"whole":    func(a answering) { a.again(func(r *http.Request) { r.Header.Del("Range") }) },
	"etag": func(a answering) {
		a.anyVersion(func(h http.Header) { h.Set("Etag", strconv.Quote(strconv.Itoa(a.s.rand(1e9)))) })
	},
	"weak":     func(a answering) { a.anyVersion(func(h http.Header) { h.Set("Etag", `W/"x"`) }) },
	"no etag":  func(a answering) { a.anyVersion(func(h http.Header) { h.Del("Etag") }) },
	"get etag": func(a answering) { a.unlessHead(func(h http.Header) { h.Del("Etag") }) },
	"get time": func(a answering) { a.unlessHead(func(h http.Header) { h.Del("Etag"); h.Del("Last-Modified") }) },
	"no time":  func(a answering) { a.anyVersion(func(h http.Header) { h.Del("Etag"); h.Del("Last-Modified") }) },
	"new time": func(a answering) {
		a.anyVersion(func(h http.Header) { h.Del("Etag"); h.Set("Last-Modified", someTime(a.s.rand(1e9))) })
	},
	"itself": func(a answering) { http.Redirect(a.w, a.r, a.r.URL.String(), http.StatusFound) },
	"circle": func(a answering) {
		http.Redirect(a.w, a.r, a.r.URL.Path+"?n="+strconv.Itoa(a.s.rand(2)), http.StatusTemporaryRedirect)
	},
	"directory": func(a answering) {
		http.Redirect(a.w, a.r, strings.TrimSuffix(a.r.URL.Path, "/")+"/", http.StatusMovedPermanently)
	},
	"header":    func(a answering) { a.set("X-Long", strings.Repeat("x", 2<<20)); a.sendTruth() },
	"fields":    func(a answering) { a.fields(); a.sendTruth() },
	"hints":     func(a answering) { a.hints(); a.sendTruth() },
	"trickle":   func(a answering) { a.trickle(a.body()) },
	"stall":     func(a answering) { a.trickle(nil) },
	"hang":      func(a answering) { a.hang() },
	"gzip":      func(a answering) { a.gzip() },
	"busy":      func(a answering) { a.refuse(http.StatusServiceUnavailable, strings.Repeat("<a>", 100_000)) },
	"broken":    func(a answering) { a.refuse(http.StatusBadRequest, "<Error>"+strings.Repeat("<a>", 20_000)) },
	"not valid": func(a answering) { a.refuse(http.StatusRequestedRangeNotSatisfiable, "") },
	"same":      func(a answering) { a.refuse(http.StatusNotModified, "") },
	"parts": func(a answering) {
		a.truth.Header().Del("Content-Range")
		a.set("Content-Type", "multipart/byteranges; boundary=x")
		a.sendTruth()
	},
	"endless": func(a answering) { a.endless("", "x") },
	"index":   func(a answering) { a.endlessIndex() },
	"more":    func(a answering) { a.moreEntries() },
	"nested":  func(a answering) { a.endless("<ListBucketResult>", "<a>") },
	"page":    func(a answering) { a.page() },
}

// consistent are the lies under which the content may change: HEAD gives true versions.
var consistent = []string{
	"get etag", "get time",
	"longer", "shorter", "cut", "shift", "size", "range", "no range", "whole", "itself", "circle", "directory",
	"header", "fields", "hints", "trickle", "stall", "hang", "gzip",
	"busy", "broken", "not valid", "parts", "endless", "index", "more", "nested", "page",
}

func newLyingServer(t testing.TB, index string, seed uint64) *lyingServer {
	t.Helper()
	s := &lyingServer{index: index, ended: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 0))}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		close(s.ended)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// show changes the directory that is served.
func (s *lyingServer) show(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
	s.number++
}

func (s *lyingServer) tell(lies []lie) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lies = lies
}

func (s *lyingServer) rand(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

// choose returns the lie for a request, or "".
func (s *lyingServer) choose(r *http.Request) string {
	at := r.URL.Path + "?" + r.URL.Query().Get("prefix")
	if !strings.Contains(at, "/v/") {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lies {
		if strings.Contains(at, l.Path) && s.random.IntN(l.OneIn) == 0 {
			return l.Kind
		}
	}
	return ""
}

func (s *lyingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := answering{s, w, r, s.answer(r)}
	if tell := lies[s.choose(r)]; tell != nil {
		tell(a)
		return
	}
	a.sendTruth()
}

// answer returns the true answer.
func (s *lyingServer) answer(r *http.Request) *httptest.ResponseRecorder {
	s.mu.Lock()
	dir, number := s.dir, s.number
	s.mu.Unlock()
	w := httptest.NewRecorder()
	at := strings.TrimPrefix(path.Clean(r.URL.Path), "/bucket")
	name := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+at)))
	info, err := os.Stat(name)
	switch {
	case r.URL.Query().Has("list-type"):
		s.list(w, r.URL.Query(), dir, number)
	case err != nil:
		w.WriteHeader(http.StatusNotFound)
	case !info.IsDir():
		b, err := os.ReadFile(name)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return w
		}
		w.Header().Set("Etag", etagOf(number, at))
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Unix(1e9+int64(number)*100, 0), bytes.NewReader(b))
	case !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
	case s.index == "":
		w.WriteHeader(http.StatusForbidden)
	default:
		s.writeIndex(w, name)
	}
	return w
}

func etagOf(number int, name string) string { return fmt.Sprintf(`"%d-%x"`, number, name) }

func someTime(seconds int) string { return time.Unix(int64(seconds), 0).UTC().Format(http.TimeFormat) }

// writeIndex writes the index of a directory, with other entries.
func (s *lyingServer) writeIndex(w http.ResponseWriter, dir string, others ...string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name()+strings.Repeat("/", map[bool]int{true: 1}[e.IsDir()]))
	}
	names = append(names, others...)
	if s.index == "html" {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Index of /</title>")
		for _, name := range names {
			fmt.Fprintf(w, "<a href=\"%s\">x</a>\n", (&url.URL{Path: "./" + name}).String())
		}
		return
	}
	list := []map[string]string{}
	for _, name := range names {
		plain, isDir := strings.CutSuffix(name, "/")
		list = append(list, map[string]string{"name": plain, "type": map[bool]string{true: "directory",
			false: "file"}[isDir]})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // to memory
}

// list writes a page of a listing of S3.
func (s *lyingServer) list(w http.ResponseWriter, query url.Values, dir string, number int) {
	type entry struct {
		Key, ETag, LastModified string
		Size                    int64
	}
	type prefix struct{ Prefix string }
	var page struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []entry
		Prefixes []prefix `xml:"CommonPrefixes"`
	}
	prefixes := map[string]bool{}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error { // a file that is gone is not listed
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		key := strings.TrimPrefix(filepath.ToSlash(name), dir+"/")
		rest, ok := strings.CutPrefix(key, query.Get("prefix"))
		if err != nil || !ok || key <= query.Get("start-after") {
			return err
		}
		if i := strings.Index(rest, "/"); i >= 0 && query.Get("delimiter") == "/" {
			prefixes[query.Get("prefix")+rest[:i+1]] = true
			return nil
		}
		page.Contents = append(page.Contents, entry{key, etagOf(number, "/"+key),
			time.Unix(1e9+int64(number)*100, 0).UTC().Format(time.RFC3339), info.Size()})
		return nil
	})
	for _, p := range slices.Sorted(maps.Keys(prefixes)) {
		page.Prefixes = append(page.Prefixes, prefix{p})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(page) // to memory
}
