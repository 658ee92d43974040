package integration

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

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

// endlessIndex lists a directory without an end: the index has no end, or the next page is always the same one, or a
// new one without entries.
func (a answering) endlessIndex() {
	switch {
	case a.isListing() && a.s.rand(2) == 0:
		a.set("Content-Type", "application/xml")
		a.truth.Body = bytes.NewBufferString(strings.Replace(string(a.body()), "</ListBucketResult>",
			fmt.Sprintf(
				"<IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>",
				a.s.rand(1e9)), 1))
		a.sendTruth()
	case a.isListing():
		a.truth.Body = bytes.NewBufferString(fmt.Sprintf(
			"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>", a.s.rand(1e9)))
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
	a.s.writeIndex(w, dir, "z9/", "y9/", "x9.wkw", "..", "../", "../../w/", "a\u202eb", "\x1b[31m",
		strings.Repeat("n", 300), "x0.wkw/", "c/", "99")
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
