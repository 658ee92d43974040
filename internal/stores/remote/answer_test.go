package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// peakHeap returns the largest memory that is in use while do runs, in bytes, without what was in use before.
func peakHeap(do func()) (peak int64) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	tick := time.NewTicker(5 * time.Millisecond) // a collection takes both processors
	defer tick.Stop()
	for {
		peak = max(peak, heap()-before)
		select {
		case <-ended:
			return peak
		case <-tick.C:
		}
	}
}

// filled returns a start, a part as often as it fits into size bytes, and an end.
func filled(size int, start, part, end string) []byte {
	return []byte(start + strings.Repeat(part, (size-len(start)-len(end))/len(part)) + end)
}

// hostileAnswer is an answer that takes much memory if it is parsed as a whole.
type hostileAnswer struct {
	name, source, kind string
	status             int
	body               []byte
}

var hostileAnswers = []hostileAnswer{
	{"nested", "s3://b/d", "", 200, filled(maxPage, "<ListBucketResult>", "<a>", "")},
	{"attributes", "s3://b/d", "", 200, filled(maxPage, "<ListBucketResult><x ", "a='' ", "/></ListBucketResult>")},
	{"attributes of the root", "s3://b/d", "", 200, filled(maxPage, "<ListBucketResult ", "a='' ",
		"></ListBucketResult>")},
	{"objects", "s3://b/d", "", 200, filled(maxPage, "<ListBucketResult>", "<Contents></Contents>",
		"</ListBucketResult>")},
	{"objects, not plain", "s3://b/d", "", 200, filled(maxPage, "<!-- é --><ListBucketResult>", "<Contents/>",
		"</ListBucketResult>")},
	{"prefixes", "s3://b/d", "", 200, filled(maxPage, "<ListBucketResult>", "<CommonPrefixes></CommonPrefixes>",
		"</ListBucketResult>")},
	{"long text", "s3://b/d", "", 200, filled(maxPage, "<ListBucketResult><Contents><Key>", "a",
		"</Key></Contents></ListBucketResult>")},
	{"nested error", "s3://b/d", "", 400, filled(maxErrorBody, "<Error>", "<a>", "")},
	{"items", "gs://b/d", "", 200, filled(maxPage, `{"items":[{}`, ",{}", "]}")},
	{"prefixes", "gs://b/d", "", 200, filled(maxPage, `{"prefixes":["d/"`, `,""`, "]}")},
	{"nested", "gs://b/d", "", 200, filled(maxPage, `{"items":`, "[", "")},
	{"links", "", "text/html", 200, filled(maxIndex, "<title>Index of /</title>", "<a href=x>", "")},
	{"other links", "", "text/html", 200, otherLinks()},
	{"attributes", "", "text/html", 200, filled(maxIndex, "<title>Index of /</title><a", " a", ">")},
	{"text", "", "text/html", 200, filled(maxIndex, "<title>Index of /</title>", "a", "")},
	{"entries", "", "application/json", 200, filled(maxIndex, `[{"name":"x","type":"file"}`, `,{"type":"file"}`, "]")},
	{"a long name", "", "application/json", 200, filled(maxIndex, `[{"type":"file","name":"`, "a", `"}]`)},
	{"nested", "", "application/json", 200, filled(maxIndex, "", "[", "")},
}

// times is how often the answer is asked for at a time. To parse indexes takes long.
func (h hostileAnswer) times() int {
	if h.source == "" {
		return 2
	}
	return 32
}

// otherLinks returns an index with links to very many files.
func otherLinks() []byte {
	b := []byte("<title>Index of /</title>")
	for i := 0; len(b) < maxIndex-20; i++ {
		b = fmt.Appendf(b, "<a href=%x>", i)
	}
	return b
}

// openAt opens a URL whose store is a server of the test. That of a web server is "".
func openAt(t *testing.T, source string, o Options, h http.HandlerFunc) object.Bucket {
	t.Helper()
	noAWS(t)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	o.Anonymous = true
	if strings.HasPrefix(source, "s3:") {
		o.Endpoint = server.URL
	}
	b, err := Open(cmp.Or(source, server.URL), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMemoryOfAnswers: many answers of any content at a time are parsed in the memory that all answers share, and a few
// times as much. Errors of answers come at once.
func TestMemoryOfAnswers(t *testing.T) {
	const most = 128 << 20
	for _, c := range hostileAnswers {
		if testing.Short() && c.times() < 32 {
			continue // few at a time: their goroutines are those of the others
		}
		t.Run(strings.TrimSpace(c.source+" "+c.name), func(t *testing.T) {
			b := openAt(t, c.source, Options{Timeout: time.Minute}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = w.Write(c.body) // the client may have left
			})
			if peak := peakHeap(func() {
				var all sync.WaitGroup
				for range c.times() {
					all.Go(func() {
						for range b.List(t.Context(), "", "", "/") {
						}
					})
				}
				all.Wait()
			}); peak > most {
				t.Errorf("%d MiB in use, expected at most %d", peak>>20, most>>20)
			} else {
				t.Logf("%d MiB", peak>>20)
			}
		})
	}
	if answers.free != answerMemory || answers.taken {
		t.Errorf("memory is left: %d bytes are free", answers.free)
	}
}

// TestLongLogins: an answer of a server for credentials that does not end, in its header or its body, is an error in
// little memory.
func TestLongLogins(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, start := range []string{"HTTP/1.1 200 OK\r\nX-Long: ", "HTTP/1.1 200 OK\r\n\r\n<A>"} {
		at := rawServer(t, func(w io.Writer) {
			for _, err := io.WriteString(w, start); err == nil; {
				_, err = io.WriteString(w, strings.Repeat("<a>", 10_000))
			}
		})
		for name, set := range map[string]func(){
			"container": func() { t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", at+"/x") },
			"machine":   func() { t.Setenv("AWS_EC2_METADATA_DISABLED", ""); t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", at) },
			"STS": func() {
				t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token)
				t.Setenv("AWS_ROLE_ARN", "arn:x")
				t.Setenv("AWS_ENDPOINT_URL_STS", at)
			},
		} {
			noAWS(t)
			set()
			b, err := Open("s3://b/d", Options{Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			b.(*s3).http.Transport = inProcess{http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request) {
				serve(w, r, "x")
			})}
			if peak := peakHeap(func() { _, err = b.Head(t.Context(), "x") }); peak > 16<<20 {
				t.Errorf("%s: %d bytes in use", name, peak)
			}
			if name != "machine" && err == nil { // a machine without credentials reads public data
				t.Errorf("%s: no error", name)
			}
		}
	}
}

// TestSharedMemory: answers wait for memory, one has more than there is, and a request that is given up waits no
// longer.
func TestSharedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{free: 10, changed: make(chan struct{})}
		a, b, c, d := &share{of: m}, &share{of: m}, &share{of: m}, &share{of: m}
		for _, s := range []*share{a, b} {
			if err := s.take(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // more than there is
			if err := c.take(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := d.take(ctx, 5); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		got := make(chan error)
		go func() { got <- d.take(t.Context(), 5) }()
		synctest.Wait()
		select {
		case err := <-got:
			t.Errorf("did not wait: %v", err)
		default:
		}
		a.release()
		if err := <-got; err != nil {
			t.Error(err)
		}
		for _, s := range []*share{b, c, d} {
			s.release()
		}
		if m.free != 10 || m.taken {
			t.Errorf("%d are free, %v", m.free, m.taken)
		}
	})
}

// TestAnswerLimits: a body at its limit is read, one byte more is an error, and an error of the body is returned as it
// is.
func TestAnswerLimits(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for _, c := range []struct {
		size, limit int
		err         string
	}{{0, 0, ""}, {5, 5, ""}, {6, 5, "at most 5 bytes"}, {answerPiece * 2, answerPiece * 2, ""},
		{answerPiece*2 + 1, answerPiece * 2, "at most"}} {
		answer := &http.Response{Request: request,
			Body: io.NopCloser(iotest.HalfReader(bytes.NewReader(make([]byte, c.size))))}
		n, err := readAnswer(answer, int64(c.limit), buffered(func(b []byte) (int, error) { return len(b), nil }))
		if (err == nil) != (c.err == "") || err == nil && n != c.size ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%d of %d: got %d, %v", c.size, c.limit, n, err)
		}
	}
	for _, parse := range []func(*answerBody) (*names, error){
		func(r *answerBody) (*names, error) {
			return parseIndex(&http.Response{Request: request, Header: http.Header{"Content-Type": {"text/html"}}}, r)
		},
		buffered(func([]byte) (*names, error) { return nil, errNotIndex }),
	} {
		answer := &http.Response{Request: request, Body: io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))}
		var final permanent
		if _, err := readAnswer(answer, 99, parse); err != io.ErrUnexpectedEOF || errors.As(err, &final) {
			t.Errorf("got %v", err)
		}
	}
}

// TestCheckMarkup: how many tags are accepted, and how long they may be.
func TestCheckMarkup(t *testing.T) {
	long := strings.Repeat("x", 16<<10)
	for _, c := range []struct {
		body string
		ok   bool
	}{{"", true}, {"<a><b>", true}, {"<a><b><c>", false}, {"<" + long, true}, {"<x" + long, false},
		{"x" + long + "<", false}, {"<" + long + "<", true}} {
		if err := checkMarkup([]byte(c.body), 2); (err == nil) != c.ok {
			t.Errorf("%.20s: got %v", c.body, err)
		}
	}
}

// rawServer returns the URL of a server that answers each request with the same bytes, for as long as the client reads.
func rawServer(t *testing.T, answer func(io.Writer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				if _, err := c.Read(make([]byte, 4096)); err == nil {
					answer(c)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return "http://" + l.Addr().String()
}

// TestLongHeaders: a header of any form that does not end, or that is longer than that of any store, is an error. It
// takes little memory and no other attempts.
func TestLongHeaders(t *testing.T) {
	write := func(w io.Writer, text string) bool {
		_, err := io.WriteString(w, text)
		return err == nil
	}
	for _, c := range []struct {
		name        string
		start, part string
		want        string
	}{
		{"one long field", "HTTP/1.1 200 OK\r\nX-Long: ", strings.Repeat("x", 1000), "headers"},
		{"many fields", "HTTP/1.1 200 OK\r\n", "a:\r\n", "headers"},
		{"a long status", "HTTP/1.1 200 ", strings.Repeat("x", 1000), "headers"},
		{"headers that inform", "", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "headers"},
		{"a trailer",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\nTrailer: A\r\n\r\n2\r\n[]\r\n0\r\n", "a: 1\r\n", ""},
		{"the size of a piece",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n2;", "xxxxxxxxxx",
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			at := rawServer(t, func(w io.Writer) {
				asked++
				part := strings.Repeat(c.part, 1+4096/len(c.part))
				for ok := write(w, c.start); ok; {
					ok = write(w, part)
				}
			})
			timeout := time.Hour // headers that are too long are an error before
			if c.want == "" {
				timeout = 2 * time.Second
			}
			b, err := Open(at, Options{Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if peak := peakHeap(func() {
				for _, err = range b.List(t.Context(), "", "", "/") {
				}
			}); peak > 16<<20 {
				t.Errorf("%d bytes in use", peak)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(start) > time.Minute {
				t.Errorf("got %v after %v", err, time.Since(start))
			}
			if c.want != "" && asked != 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// TestListingsThatDoNotEnd: a listing whose pages bring nothing new ends with an error, soon after the timeout.
func TestListingsThatDoNotEnd(t *testing.T) {
	key := func(i int) []object.Object { return []object.Object{{Key: fmt.Sprintf("x%09d", i)}} }
	for _, c := range []struct {
		name string
		page func(i int) []object.Object
		ok   bool
	}{
		{"empty pages", func(int) []object.Object { return nil }, false},
		{"the same page", func(int) []object.Object { return key(0) }, false},
		{"pages in a circle", func(i int) []object.Object { return key(i % 3) }, false},
		{"pages back", func(i int) []object.Object { return key(1e9 - i) }, false},
		{"one name in each", key, false},
		{"a large directory", func(i int) (all []object.Object) {
			for n := range 100 {
				all = append(all, key(i*100+n)...)
			}
			return all
		}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked, names := 0, 0
			start := time.Now()
			var err error
			for objects, pageErr := range pages(time.Minute, "", func(token string) (page, error) {
				time.Sleep(time.Second)
				p := page{objects: c.page(asked), next: fmt.Sprint("t", asked%5)}
				if asked++; asked == 1000 {
					p.next = ""
				}
				return p, nil
			}) {
				names += len(objects)
				err = pageErr
				time.Sleep(time.Minute) // the time of the program does not count
			}
			waited := time.Since(start) - time.Duration(asked)*time.Minute
			switch {
			case c.ok && (err != nil || names != 100_000):
				t.Errorf("%s: %d names, %v", c.name, names, err)
			case !c.ok && (err == nil || !strings.Contains(err.Error(),
				"the listing does not end: expected 1000 new names within 1m0s") ||
				waited > 2*time.Minute+2*time.Second):
				t.Errorf("%s: after %v: %v", c.name, waited, err)
			}
		})
	}
}

// TestTrickle: an answer that arrives byte by byte takes no longer than the timeout.
func TestTrickle(t *testing.T) {
	for _, source := range []string{"s3://b/d", "gs://b/d", ""} {
		t.Run(cmp.Or(source, "web"), func(t *testing.T) {
			b := openAt(t, source, Options{Timeout: time.Second}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				for _, err := io.WriteString(w, "<title>Index of /</title>"); err == nil && r.Context().Err() == nil; {
					if _, err = io.WriteString(w, "\n"); err == nil {
						err = http.NewResponseController(w).Flush()
					}
					<-time.After(10 * time.Millisecond)
				}
			})
			start := time.Now()
			var err error
			for _, err = range b.List(t.Context(), "", "", "/") {
			}
			if err == nil || time.Since(start) > time.Minute {
				t.Errorf("got %v after %v", err, time.Since(start))
			}
		})
	}
}
