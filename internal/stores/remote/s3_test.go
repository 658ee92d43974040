package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// fakeS3 is a small S3 server with one bucket, "b".
type fakeS3 struct {
	mu       sync.Mutex // one request at a time
	objects  map[string]string
	page     int                          // keys in a page of a listing
	refuse   func(r *http.Request) string // the code of a refusal, or ""
	requests []string                     // method, host, path
}

func (s *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Host+r.URL.Path)
	w.Header().Set("X-Amz-Request-Id", "R1")
	if code := s.refuse(r); code != "" {
		s.fail(w, r, 403, code)
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if host, _, ok := strings.Cut(r.URL.Host, ".s3."); ok {
		bucket, key = host, strings.TrimPrefix(r.URL.Path, "/")
	}
	text, ok := s.objects[key]
	switch {
	case bucket != "b":
		s.fail(w, r, 404, "NoSuchBucket")
	case key == "":
		s.list(w, r.URL.Query())
	case !ok:
		s.fail(w, r, 404, "NoSuchKey")
	default:
		w.Header().Set("Etag", etag(text))
		serve(w, r, text)
	}
}

func etag(text string) string { return fmt.Sprintf(`"%x"`, text[:min(len(text), 8)]) }

func (s *fakeS3) fail(w http.ResponseWriter, r *http.Request, status int, code string) {
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
	}
}

func (s *fakeS3) list(w http.ResponseWriter, q url.Values) {
	prefix, delimiter, after := q.Get("prefix"), q.Get("delimiter"),
		max(q.Get("start-after"), q.Get("continuation-token"))
	var page strings.Builder
	n, last := 0, ""
	for _, key := range slices.Sorted(func(yield func(string) bool) {
		for key := range s.objects {
			if !yield(key) {
				return
			}
		}
	}) {
		rest, ok := strings.CutPrefix(key, prefix)
		name, _, isDir := strings.Cut(rest, delimiter)
		name = prefix + name + delimiter
		if delimiter == "" || !isDir {
			name, isDir = key, false
		}
		if !ok || name <= after || name == last {
			continue
		}
		if n++; n > s.page {
			fmt.Fprintf(&page, "<IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>",
				escapeXML(last))
			break
		}
		if last = name; isDir {
			fmt.Fprintf(&page, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", escapeXML(url.QueryEscape(name)))
		} else {
			fmt.Fprintf(&page,
				"<Contents><Key>%s</Key><Size>%d</Size><LastModified>2024-05-06T07:08:09.123Z</LastModified><ETag>%s</ETag></Contents>",
				escapeXML(url.QueryEscape(name)), len(s.objects[key]), escapeXML(etag(s.objects[key])))
		}
	}
	fmt.Fprintf(w, "<ListBucketResult><EncodingType>url</EncodingType>%s</ListBucketResult>", page.String())
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

func newFakeS3(page int) *fakeS3 {
	s := &fakeS3{objects: map[string]string{}, page: page, refuse: func(*http.Request) string { return "" }}
	for _, key := range []string{"d/a", "d/b b+%ü", "d/c/1", "d/c/2", "d/c-", "d/z", "other"} {
		s.objects[key] = "content of " + key
	}
	return s
}

func TestS3(t *testing.T) {
	noAWS(t)
	for _, page := range []int{1, 2, 1000} {
		s := newFakeS3(page)
		b := open(t, "s3://b/d/", Options{Endpoint: "https://minio.example.org/at"},
			func(w http.ResponseWriter, r *http.Request) {
				r.URL.Path = strings.TrimPrefix(r.URL.Path, "/at")
				s.ServeHTTP(w, r)
			})
		for _, c := range []struct{ prefix, after, delimiter, want string }{
			{"", "", "", "a,b b+%ü,c-,c/1,c/2,z"},
			{"", "", "/", "a,b b+%ü,c-,c/,z"},
			{"c/", "", "/", "c/1,c/2"},
			{"", "c-", "/", "c/,z"},
			{"", "b b+%ü", "", "c-,c/1,c/2,z"},
			{"nothing/", "", "/", ""},
		} {
			got, err := listAll(t, b, c.prefix, c.after, c.delimiter)
			if strings.Join(got, ",") != c.want || err != nil {
				t.Errorf("pages of %d, %+v: got %q, %v", page, c, got, err)
			}
		}
		const key = "b b+%ü"
		o, err := b.Head(t.Context(), key)
		if text := s.objects["d/"+key]; err != nil || o.Size != int64(len(text)) || o.Version != etag(text) ||
			o.Key != key {
			t.Errorf("got %+v, %v", o, err)
		}
		if got, err := read(b, o, 11, o.Size-11); got != "d/"+key || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := b.Head(t.Context(), "nothing"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	}
}

// TestS3Signature: requests are signed with the credentials of the environment. Errors do not contain them.
func TestS3Signature(t *testing.T) {
	noAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "geheim")
	t.Setenv("AWS_SESSION_TOKEN", "auchgeheim")
	for _, anonymous := range []bool{false, true} {
		var got http.Header
		b := open(t, "s3://b/d", Options{Region: "eu-central-1", Anonymous: anonymous},
			func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				w.WriteHeader(403)
				io.WriteString(w,
					"<Error><Code>SignatureDoesNotMatch</Code><StringToSign>geheim</StringToSign></Error>")
			})
		_, err := b.Head(t.Context(), "x")
		auth := got.Get("Authorization")
		signed := strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") &&
			strings.Contains(auth, "/eu-central-1/s3/aws4_request") &&
			got.Get("X-Amz-Security-Token") == "auchgeheim" && got.Get("X-Amz-Content-Sha256") == emptySHA256
		if signed == anonymous || anonymous && auth != "" {
			t.Errorf("anonymous %t: got %v", anonymous, got)
		}
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "SignatureDoesNotMatch") ||
			!strings.Contains(hintOf(err), "--anonymous") {
			t.Errorf("got %v", err)
		}
		if strings.Contains(err.Error()+hintOf(err), "geheim") {
			t.Errorf("%v has a secret", err)
		}
	}
}

// TestS3Places: where requests go, by the configuration.
func TestS3Places(t *testing.T) {
	for _, c := range []struct {
		name, url, config string
		env               []string
		o                 Options
		want              string
	}{
		{"AWS", "s3://b/d", "", nil, Options{}, "https://b.s3.us-east-1.amazonaws.com/d/x"},
		{"region", "s3://b/d", "", []string{"AWS_REGION=eu-west-1"}, Options{},
			"https://b.s3.eu-west-1.amazonaws.com/d/x"},
		{"flag", "s3://b/d", "", []string{"AWS_REGION=eu-west-1"}, Options{Region: "eu-north-1"},
			"https://b.s3.eu-north-1.amazonaws.com/d/x"},
		{"dots", "s3://b.c/d", "", nil, Options{}, "https://s3.us-east-1.amazonaws.com/b.c/d/x"},
		{"endpoint", "s3://b", "", []string{"AWS_ENDPOINT_URL=http://h:1/"}, Options{}, "http://h:1/b/x"},
		{"endpoint of S3", "s3://b", "", []string{"AWS_ENDPOINT_URL=http://h:1", "AWS_ENDPOINT_URL_S3=http://s:2"},
			Options{}, "http://s:2/b/x"},
		{"endpoint by flag", "s3://b", "", []string{"AWS_ENDPOINT_URL=http://h:1"}, Options{Endpoint: "https://f/p"},
			"https://f/p/b/x"},
		{"profile", "s3://b",
			"[default]\nregion=a-1\n[profile p]\nregion = p-1\nendpoint_url = http://p\ns3 =\n  addressing_style = virtual\n",
			[]string{"AWS_PROFILE=p"}, Options{}, "http://b.p/x"},
		{"default profile", "s3://b", "[default]\nregion=a-1\n", nil, Options{}, "https://b.s3.a-1.amazonaws.com/x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			noAWS(t)
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("AWS_CONFIG_FILE", file)
			for _, e := range c.env {
				name, value, _ := strings.Cut(e, "=")
				t.Setenv(name, value)
			}
			b, err := Open(c.url, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.(*s3).url(b.(*s3).prefix+"x", nil).String(); got != c.want {
				t.Errorf("got %s, expected %s", got, c.want)
			}
		})
	}
}

// TestIdentity: buckets of one name on several servers are different ones.
func TestIdentity(t *testing.T) {
	noAWS(t)
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	for _, c := range []struct{ url, endpoint, emulator, want string }{
		{"s3://b/d/", "", "", "s3://b/d"},
		{"s3://b/d", "http://h:1", "", "http://h:1/b/d"},
		{"s3://b", "https://h/p/", "", "https://h/p/b"},
		{"gs://b/d", "", "", "https://storage.googleapis.com/b/d"},
		{"gs://b", "", "localhost:4443", "http://localhost:4443/b"},
	} {
		t.Setenv("STORAGE_EMULATOR_HOST", c.emulator)
		b, err := Open(c.url, Options{Endpoint: c.endpoint, Anonymous: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Identity(); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// TestIdentities: buckets whose URLs or options differ in what chooses the objects have different identities. A
// directory in a bucket has one identity, however it is opened. None has a secret.
func TestIdentities(t *testing.T) {
	noAWS(t)
	seen := map[string]string{}
	check := func(url string, o Options) {
		t.Helper()
		o.Anonymous = strings.HasPrefix(url, "s3:") || strings.HasPrefix(url, "gs:")
		b, err := Open(url, o)
		if err != nil {
			t.Fatal(err)
		}
		id := b.Identity()
		if other, ok := seen[id]; ok {
			t.Errorf("%s %+v has the identity of %s", url, o, other)
		}
		if seen[id] = fmt.Sprint(url, o); strings.Contains(id, "geheim") {
			t.Errorf("%s: the identity %s has a secret", url, id)
		}
		u, query, _ := strings.Cut(url, "?")
		if query != "" {
			query = "?" + query
		}
		below, err := Open(u+"/layer"+query, o)
		if err != nil || below.Identity() != id+"/layer" {
			t.Errorf("%s: got %s below %s", url, below.Identity(), id)
		}
	}
	for _, scheme := range []string{"http", "https"} {
		for _, user := range []string{"", "geheim@", "geheim:geheim@", "geheim:geheim2@", "gehei:mgeheim@"} {
			for _, at := range []string{"h/d", "h:81/d", "h/D"} {
				for _, query := range []string{"", "?geheim", "?token=geheim&v=2"} {
					check(scheme+"://"+user+at+query, Options{})
				}
			}
		}
	}
	for _, endpoint := range []string{"", "http://h", "https://h", "https://h:1", "https://h/p"} {
		check("s3://b/d", Options{Endpoint: endpoint})
		check("s3://b2/d", Options{Endpoint: endpoint})
	}
	check("s3://b/d", Options{Region: "us-gov-west-1"})
	check("s3://b/d", Options{Region: "cn-north-1"})
	for _, emulator := range []string{"", "localhost:4443"} {
		t.Setenv("STORAGE_EMULATOR_HOST", emulator)
		check("gs://b/d", Options{})
	}
}

// TestGoogleReaders: the name of Google's credentials differs by them, and has no part of them.
func TestGoogleReaders(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	file := filepath.Join(t.TempDir(), "google.json")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	seen := map[string]bool{}
	for _, token := range []string{"geheim1", "geheim2"} {
		text := `{"type": "authorized_user", "client_id": "c", "client_secret": "geheim", "refresh_token": "` + token +
			`"}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Open("gs://b/d", Options{})
		if err != nil {
			t.Fatal(err)
		}
		reader := b.(*gcs).Reader()
		if reader == "" || seen[reader] || strings.Contains(reader, "geheim") {
			t.Errorf("got %q for %s", reader, token)
		}
		seen[reader] = true
		if again, err := Open("gs://b/d", Options{}); err != nil || again.(*gcs).Reader() != reader {
			t.Errorf("got another name for the same credentials, %v", err)
		}
	}
	b, err := Open("gs://b/d", Options{Anonymous: true})
	if err != nil || b.(*gcs).Reader() != "" {
		t.Errorf("anonymous: got a name, %v", err)
	}
}

// TestS3Region: a bucket in another region is found there, once.
func TestS3Region(t *testing.T) {
	noAWS(t)
	s := newFakeS3(10)
	b := open(t, "s3://b/d", Options{}, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Host, "eu-west-3") {
			s.requests = append(s.requests, "moved")
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-3")
			w.WriteHeader(301)
			return
		}
		s.ServeHTTP(w, r)
	})
	for range 2 {
		if _, err := b.Head(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	if want := "moved,HEAD b.s3.eu-west-3.amazonaws.com/d/a,HEAD b.s3.eu-west-3.amazonaws.com/d/a"; strings.Join(
		s.requests, ",") != want {
		t.Errorf("got %v", s.requests)
	}
}

// TestMissingBucket: nothing in a bucket that does not exist is absent.
func TestMissingBucket(t *testing.T) {
	noAWS(t)
	b := open(t, "s3://typo/d", Options{Endpoint: "http://h"}, newFakeS3(1).ServeHTTP)
	_, headErr := b.Head(t.Context(), "x")
	_, listErr := listAll(t, b, "", "", "/")
	for _, err := range []error{headErr, listErr} {
		if errors.Is(err, fs.ErrNotExist) || !errors.Is(err, syscall.EIO) ||
			!strings.Contains(err.Error(), "NoSuchBucket") || hintOf(err) == "" {
			t.Errorf("got %v", err)
		}
	}
}

// TestRefusals: what a refusal of an object that may be absent means.
func TestRefusals(t *testing.T) {
	isList := func(r *http.Request) bool { return r.URL.Query().Has("list-type") }
	for _, c := range []struct {
		name   string
		known  bool // an object was found before
		refuse func(r *http.Request) string
		want   error
		warned bool
	}{
		{"no listing", true, func(r *http.Request) string {
			if isList(r) || strings.HasSuffix(r.URL.Path, "absent") {
				return "AccessDenied"
			}
			return ""
		}, fs.ErrNotExist, true},
		{"no listing, nothing found yet", false, func(r *http.Request) string { return "AccessDenied" }, fs.ErrNotExist,
			false},
		{"listing", true, func(r *http.Request) string {
			if strings.HasSuffix(r.URL.Path, "absent") {
				return "AccessDenied"
			}
			return ""
		}, fs.ErrPermission, false},
		{"no permission any more", true, func(*http.Request) string { return "AccessDenied" }, fs.ErrPermission, false},
		{"expired", true, func(*http.Request) string { return "ExpiredToken" }, fs.ErrPermission, false},
		{"expired, nothing found yet", false, func(*http.Request) string { return "ExpiredToken" }, fs.ErrPermission,
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			noAWS(t)
			s := newFakeS3(10)
			var log strings.Builder
			b := open(t, "s3://b/d", Options{Endpoint: "http://h", Log: slog.New(slog.NewTextHandler(&log, nil))},
				s.ServeHTTP)
			if c.known {
				if _, err := b.Head(t.Context(), "a"); err != nil {
					t.Fatal(err)
				}
			}
			s.refuse = c.refuse
			for range 3 {
				if _, err := b.Head(context.Background(), "absent"); !errors.Is(err, c.want) {
					t.Errorf("got %v, expected %v", err, c.want)
				}
			}
			if warned := strings.Count(log.String(), "refuses to list"); warned > 1 || (warned == 1) != c.warned {
				t.Errorf("logged %s", log.String())
			}
		})
	}
}

// TestCannotList: a refusal to list is ErrCannotList; other errors are not.
func TestCannotList(t *testing.T) {
	noAWS(t)
	for code, want := range map[string]bool{"AccessDenied": true, "InvalidAccessKeyId": false} {
		s := newFakeS3(1)
		s.refuse = func(*http.Request) string { return code }
		b := open(t, "s3://b/d", Options{Endpoint: "http://h"}, s.ServeHTTP)
		if _, err := listAll(t, b, "", "", "/"); errors.Is(err, object.ErrCannotList) != want ||
			!errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: got %v", code, err)
		}
	}
}
