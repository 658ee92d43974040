package remote

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// versionGiven is what a server tells about the version of an object in one kind of answer.
type versionGiven struct {
	tag     string // "", "weak" or "strong"
	changed bool   // the time of the last change
}

// change is how an object changes while it is open.
type change struct {
	content, weak, time, longer bool // what differs afterwards. A strong ETag always does
}

// server serves one object over HTTP.
type server struct {
	head, get versionGiven
	change    change
	ignores   bool // conditions
	noSize    bool // ranges are of objects of unknown size
	whole     bool // ranges are ignored
	changed   bool // the object has changed
	requests  []string
}

func (s *server) content() string {
	switch {
	case s.changed && s.change.longer:
		return strings.ToUpper(alphabet) + "!"
	case s.changed && s.change.content:
		return strings.ToUpper(alphabet)
	}
	return alphabet
}

// giveVersion sets the header of an answer.
func (s *server) giveVersion(h http.Header, what versionGiven) {
	n := func(differs bool) int {
		if s.changed && differs {
			return 2
		}
		return 1
	}
	switch what.tag {
	case "strong":
		h.Set("Etag", fmt.Sprintf(`"%d"`, n(s.change.content)))
	case "weak":
		h.Set("Etag", fmt.Sprintf(`W/"w%d"`, n(s.change.weak)))
	}
	if what.changed {
		h.Set("Last-Modified", fmt.Sprintf("Thu, 01 Jan 1970 00:00:0%d GMT", n(s.change.time)))
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests = append(s.requests, r.Method)
	text, what := s.content(), s.get
	if r.Method == http.MethodHead {
		what = s.head
	}
	s.giveVersion(w.Header(), what)
	if want := r.Header.Get("If-Match"); want != "" && !s.ignores && what.tag == "strong" &&
		want != w.Header().Get("Etag") {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	first, last := 0, len(text)-1
	_, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
	isRange := err == nil && !s.whole
	if !isRange {
		first, last = 0, len(text)-1
	}
	w.Header().Set("Content-Length", fmt.Sprint(last-first+1))
	if isRange {
		size := fmt.Sprint(len(text))
		if s.noSize {
			size = "*"
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", first, last, size))
		w.WriteHeader(http.StatusPartialContent)
	}
	if r.Method != http.MethodHead {
		fmt.Fprint(w, text[first:last+1])
	}
}

// showsChange reports whether the server says something that differs after the change.
func (s *server) showsChange() bool {
	return s.change.longer || s.head.tag == "strong" || s.get.tag == "strong" ||
		s.change.weak && (s.head.tag == "weak" || s.get.tag == "weak") ||
		s.change.time && (s.head.changed || s.get.changed)
}

// servers yields all servers.
func servers(yield func(server) bool) {
	var all []versionGiven
	for _, tag := range []string{"", "weak", "strong"} {
		all = append(all, versionGiven{tag, false}, versionGiven{tag, true})
	}
	for _, head := range all {
		for _, get := range all {
			for n := range 1 << 6 {
				flag := func(bit int) bool { return n>>bit&1 == 1 }
				s := server{head: head, get: get, change: change{true, flag(0), flag(1), flag(2)}, ignores: flag(3),
					noSize: flag(4), whole: flag(5)}
				if !yield(s) {
					return
				}
			}
		}
	}
}

// readWhileChanging opens an object, reads three times, and lets it change before the read with the number moment. All
// bytes are of one version, or a read fails, if the server shows the change. Nothing fails without a change.
func readWhileChanging(t *testing.T, b object.Bucket, name string, moment int, s *server, shows bool) {
	t.Helper()
	o, err := b.Head(t.Context(), "x")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var got string
	for i := range 3 {
		s.changed = s.changed || i == moment
		text, readErr := read(b, o, int64(8*i), 8)
		if got += text; readErr != nil {
			err = readErr
			break
		}
	}
	one := got == alphabet[:24] || got == strings.ToUpper(alphabet[:24])
	switch {
	case moment == 3 && (err != nil || !one):
		t.Fatalf("%s: got %q, %v without a change", name, got, err)
	case err != nil && !errors.Is(err, vfs.ErrChanged):
		t.Fatalf("%s: got %v", name, err)
	case err == nil && !one && shows:
		t.Fatalf("%s: got the mixture %q after %v", name, got, s.requests)
	}
}

// TestOneVersion: an object changes before the first, the second or the third read of an open file, or not at all, on
// servers that say any of ETag, weak ETag, time of the last change and size in answers to HEAD and GET. All bytes are
// of one version, or a read fails, if the server says anything that differs. The next open shows the new bytes.
func TestOneVersion(t *testing.T) {
	noAWS(t)
	cases, promised := 0, 0
	for s := range servers {
		for _, url := range []string{"http://h/d", "s3://b/d"} {
			for moment := range 4 {
				if cases++; testing.Short() && cases%13 != 0 {
					continue // each case reads in one goroutine
				}
				s := s
				b := open(t, url, Options{Endpoint: "http://h", Anonymous: true}, s.ServeHTTP)
				name := fmt.Sprintf("%s, change before read %d, %+v", url, moment, s)
				readWhileChanging(t, b, name, moment, &s, s.showsChange())
				if s.showsChange() {
					promised++
				}
				s.changed = true
				o, err := b.Head(t.Context(), "x")
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if text, err := read(b, o, 0, 8); text != s.content()[:8] || err != nil {
					t.Fatalf("%s: the next open: got %q, %v", name, text, err)
				}
			}
		}
	}
	t.Logf("%d cases, %d with a promise", cases, promised)
}

// TestOneGeneration: the same for Google Cloud Storage, with generations and times in descriptions and in answers to
// reads.
func TestOneGeneration(t *testing.T) {
	for n := range 1 << 6 {
		flag := func(bit int) bool { return n>>bit&1 == 1 }
		describesGeneration, describesTime, readsGeneration, changesTime, longer, ignores := flag(0), flag(1), flag(2),
			flag(3), flag(4), flag(5)
		shows := describesGeneration || readsGeneration || describesTime && changesTime || longer
		for moment := range 4 {
			s := &server{change: change{content: true, time: changesTime, longer: longer}}
			b := open(t, "gs://b/d", Options{Anonymous: true}, func(w http.ResponseWriter, r *http.Request) {
				generation, updated := "1", "2024-05-06T07:08:09.5Z"
				if s.changed {
					generation = "2"
					if changesTime {
						updated = "2024-05-06T07:08:09.6Z"
					}
				}
				if r.URL.Query().Get("alt") == "media" {
					if want := r.URL.Query().Get("ifGenerationMatch"); want != "" && want != generation && !ignores {
						w.WriteHeader(http.StatusPreconditionFailed)
						return
					}
					if readsGeneration {
						w.Header().Set("X-Goog-Generation", generation)
					}
					serve(w, r, s.content())
					return
				}
				if !describesGeneration {
					generation = ""
				}
				if !describesTime {
					updated = "0001-01-01T00:00:00Z"
				}
				fmt.Fprintf(w, `{"name":"d/x","size":"%d","generation":"%s","updated":"%s"}`, len(s.content()),
					generation, updated)
			})
			name := fmt.Sprintf("case %06b, change before read %d", n, moment)
			readWhileChanging(t, b, name, moment, s, shows)
		}
	}
}

// TestRequestsOfVersions: what versions cost. A server whose reads say all that they can needs no other request.
func TestRequestsOfVersions(t *testing.T) {
	strong, timed, nothing := versionGiven{"strong", true}, versionGiven{"", true}, versionGiven{}
	for _, c := range []struct {
		head, get versionGiven
		want      string // requests of two opens with two reads each
	}{
		{strong, strong, "HEAD GET GET HEAD GET GET"},
		{timed, timed, "HEAD GET GET GET HEAD GET GET"},
		{timed, strong, "HEAD GET GET GET HEAD GET GET GET"},
		{strong, timed, "HEAD GET HEAD GET HEAD HEAD GET HEAD GET HEAD"},
		{nothing, nothing, "HEAD GET GET GET HEAD GET GET GET"},
	} {
		s := &server{head: c.head, get: c.get}
		b := open(t, "http://h/d", Options{}, s.ServeHTTP)
		for range 2 {
			o, err := b.Head(t.Context(), "x")
			for range 2 {
				if _, readErr := read(b, o, 0, 8); readErr != nil {
					err = readErr
				}
			}
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if got := strings.Join(s.requests, " "); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestParseVersion: a version has the validators that it was made of.
func TestParseVersion(t *testing.T) {
	for _, v := range []validators{{strong: `"a"`}, {strong: "17"}, {weak: `"w W/x"`}, {changed: "60"},
		{weak: `"w"`, changed: "60"}} {
		if got := parseVersion(v.version()); got != v {
			t.Errorf("%+v: got %+v from %q", v, got, v.version())
		}
	}
	if got := (validators{}).version(); got != "" || parseVersion("") != (validators{}) {
		t.Errorf("no validators: got %q", got)
	}
}

// TestListingsWithoutVersion: objects of listings that have no ETag or generation are described by Head: the time alone
// is not enough if reads say more.
func TestListingsWithoutVersion(t *testing.T) {
	p, err := parseS3Page(
		[]byte(
			`<ListBucketResult><Contents><Key>d/a</Key><Size>26</Size><LastModified>2024-05-06T07:08:09Z</LastModified></Contents></ListBucketResult>`), "d/")
	if want := (object.Object{Key: "a", Size: -1}); err != nil || len(p.objects) != 1 ||
		p.objects[0].Size != want.Size || p.objects[0].Version != "" {
		t.Errorf("S3: got %+v, %v", p, err)
	}
	p, err = parseGCSPage(
		strings.NewReader(`{"items":[{"name":"d/a","size":"26"},{"name":"d/b","size":"26","generation":"1"}]}`), "d/")
	sizes := []int64{-1, 26}
	if err != nil || len(p.objects) != 2 || !slices.Equal([]int64{p.objects[0].Size, p.objects[1].Size}, sizes) {
		t.Errorf("GCS: got %+v, %v", p, err)
	}
}
