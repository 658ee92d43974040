package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
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

// lies are all lies. What a server says consistently cannot be known to be a lie: that an object does not exist, that a directory has no more
// entries, or other voxels of the right length. No lie here says that.
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
	"longer", "shorter", "cut", "shift", "size", "range", "no range", "whole", "itself", "circle", "directory", "header", "fields", "hints", "trickle", "stall", "hang", "gzip",
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
		list = append(list, map[string]string{"name": plain, "type": map[bool]string{true: "directory", false: "file"}[isDir]})
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
		page.Contents = append(page.Contents, entry{key, etagOf(number, "/"+key), time.Unix(1e9+int64(number)*100, 0).UTC().Format(time.RFC3339), info.Size()})
		return nil
	})
	for _, p := range slices.Sorted(maps.Keys(prefixes)) {
		page.Prefixes = append(page.Prefixes, prefix{p})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(page) // to memory
}

func (a answering) body() []byte           { return a.truth.Body.Bytes() }
func (a answering) get(name string) string { return a.truth.Header().Get(name) }
func (a answering) set(name, value string) { a.truth.Header().Set(name, value) }
func (a answering) isIndex() bool          { return strings.HasSuffix(a.r.URL.Path, "/") }
func (a answering) isVoxels() bool {
	return !strings.HasSuffix(a.r.URL.Path, ".json") && !strings.HasSuffix(a.r.URL.Path, "header.wkw")
}
func (a answering) isListing() bool         { return a.r.URL.Query().Has("list-type") }
func (a answering) write(text string) error { _, err := io.WriteString(a.w, text); return err }

// start sends the header of the truth, with a length unless it is negative.
func (a answering) start(length int) {
	h := a.w.Header()
	maps.Copy(h, a.truth.Header())
	if h.Del("Content-Length"); length >= 0 {
		h.Set("Content-Length", strconv.Itoa(length))
	}
	a.w.WriteHeader(a.truth.Code)
}

// send sends the header of the truth, with a length, and a body.
func (a answering) send(length int, body []byte) {
	if a.r.Method == http.MethodHead { // a length that is wrong everywhere is that of the file
		a.sendTruth()
		return
	}
	a.start(length)
	_, _ = a.w.Write(body) // the client may have left
}

// sendTruth sends the truth, whose header may have been changed.
func (a answering) sendTruth() {
	length := len(a.body())
	if a.r.Method == http.MethodHead {
		length, _ = strconv.Atoi(a.get("Content-Length"))
	}
	a.start(length)
	if a.r.Method != http.MethodHead {
		_, _ = a.w.Write(a.body()) // the client may have left
	}
}

// again sends the truth about another request.
func (a answering) again(change func(*http.Request)) {
	a.r = a.r.Clone(a.r.Context())
	change(a.r)
	a.truth = a.s.answer(a.r)
	a.sendTruth()
}

// anyVersion sends the content, whatever version was asked for, with another header.
func (a answering) anyVersion(change func(http.Header)) {
	if a.isListing() || a.isIndex() {
		a.sendTruth()
		return
	}
	a.r = a.r.Clone(a.r.Context())
	a.r.Header.Del("If-Match")
	a.truth = a.s.answer(a.r)
	change(a.truth.Header())
	a.sendTruth()
}

// unlessHead is anyVersion for requests other than HEAD: what HEAD says is true.
func (a answering) unlessHead(change func(http.Header)) {
	if a.r.Method == http.MethodHead {
		a.sendTruth()
		return
	}
	a.anyVersion(change)
}

func shiftRange(r *http.Request) {
	var from, to int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err == nil {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from+1, to+1))
	}
}

func (a answering) fields() {
	for i := range 50_000 {
		a.set(fmt.Sprintf("X%d", i), "")
	}
}

func (a answering) hints() {
	a.w.Header().Set("Link", strings.Repeat("x", 1000))
	for range 3000 {
		a.w.WriteHeader(http.StatusEarlyHints)
	}
}

// trickle sends some of the body, a byte at a time, until the client leaves.
func (a answering) trickle(some []byte) {
	if a.r.Method == http.MethodHead {
		a.hang()
		return
	}
	a.start(len(a.body()))
	for i := 0; ; i++ {
		if i < min(len(some), 20) {
			_, _ = a.w.Write(some[i : i+1]) // the client may have left
		}
		if http.NewResponseController(a.w).Flush() != nil {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-a.r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-a.s.ended:
			return
		}
	}
}

// hang waits until the client leaves.
func (a answering) hang() {
	select {
	case <-a.r.Context().Done():
	case <-a.s.ended:
	}
}

func (a answering) gzip() {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(a.body()) // to memory
	_ = z.Close()
	if a.r.Method == http.MethodHead {
		a.sendTruth()
		return
	}
	a.set("Content-Encoding", "gzip")
	a.start(-1)
	_, _ = a.w.Write(packed.Bytes()) // the client may have left
}

func (a answering) refuse(status int, body string) {
	a.w.WriteHeader(status)
	_ = a.write(body) // the client may have left
}

// endless sends a body without an end.
func (a answering) endless(start, part string) {
	if a.r.Method == http.MethodHead {
		a.sendTruth()
		return
	}
	a.start(-1)
	part = strings.Repeat(part, 10_000)
	for err := a.write(start); err == nil && a.r.Context().Err() == nil; {
		err = a.write(part)
	}
}

// endlessIndex lists a directory without an end: the index has no end, or the next page is always the same one, or a new one without entries.
func (a answering) endlessIndex() {
	switch {
	case a.isListing() && a.s.rand(2) == 0:
		a.set("Content-Type", "application/xml")
		a.truth.Body = bytes.NewBufferString(strings.Replace(string(a.body()), "</ListBucketResult>",
			fmt.Sprintf("<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", a.s.rand(1e9)), 1))
		a.sendTruth()
	case a.isListing():
		a.truth.Body = bytes.NewBufferString(fmt.Sprintf("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", a.s.rand(1e9)))
		a.sendTruth()
	case a.isIndex() && a.s.index == "html":
		a.endless("<title>Index of /</title>", "<a href=q"+strconv.Itoa(a.s.rand(1e9))+">q</a>")
	case a.isIndex() && a.s.index == "json":
		a.endless(`[{"name":"q","type":"file"}`, `,{"name":"q","type":"file"}`)
	default:
		a.sendTruth()
	}
}

// moreEntries lists entries that there are not: directories in themselves, and names that lead out or that nobody sees.
func (a answering) moreEntries() {
	if !a.isIndex() || a.s.index == "" || a.truth.Code != http.StatusOK {
		a.sendTruth()
		return
	}
	dir := filepath.Join(a.s.dir, filepath.FromSlash(path.Clean(a.r.URL.Path)))
	w := httptest.NewRecorder()
	a.s.writeIndex(w, dir, "z9/", "y9/", "x9.wkw", "..", "../", "../../w/", "a\u202eb", "\x1b[31m", strings.Repeat("n", 300), "x0.wkw/", "c/", "99")
	a.truth = w
	a.sendTruth()
}

// page sends a page for people. Instead of voxels it would say that they do not exist.
func (a answering) page() {
	if a.isVoxels() && !a.isIndex() && !a.isListing() {
		a.sendTruth()
		return
	}
	a.w.Header().Set("Content-Type", "text/html")
	_ = a.write("<html><title>Please log in</title><a href=x>x</a></html>") // the client may have left
}
