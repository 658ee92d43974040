package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// gcs is an object.Bucket of Google Cloud Storage.
//
// Specification: Cloud Storage JSON API v1, Objects: get, list. An object is known by its generation.
type gcs struct {
	*client
	refusals
	bucket, prefix string
	server         *url.URL
	tokens         *googleTokens
	exists         atomic.Bool // a request for the bucket has succeeded
}

func newGCS(bucket, prefix string, o Options) (object.Bucket, error) {
	b := &gcs{client: newClient(o), bucket: bucket, prefix: prefix,
		server: &url.URL{Scheme: "https", Host: "storage.googleapis.com"}}
	if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		u, err := url.Parse(emulator)
		if err != nil || u.Host == "" {
			return nil, hint.Usagef("write it like localhost:4443",
				"STORAGE_EMULATOR_HOST: %q is not the name of a server", Display(emulator))
		}
		b.server = &url.URL{Scheme: u.Scheme, Host: u.Host}
		o.Anonymous = true // credentials are for Google alone
	}
	if b.client.credentials = "--anonymous reads public data without credentials"; o.Anonymous {
		b.client.credentials = "without --anonymous, credentials come from gcloud auth application-default login or GOOGLE_APPLICATION_CREDENTIALS"
	} else {
		b.tokens = &googleTokens{}
		b.sign = b.signed
	}
	b.refusals = refusals{log: o.Log, url: b.URL(), describe: b.describe, forbidsList: b.refusesList}
	return b, nil
}

// URL implements [object.Bucket].
func (b *gcs) URL() string { return strings.TrimSuffix("gs://"+b.bucket+"/"+b.prefix, "/") }

// Identity implements [object.Bucket]: an emulator may have a bucket of the same name.
func (b *gcs) Identity() string {
	return b.server.Scheme + "://" + b.server.Host + strings.TrimPrefix(b.URL(), "gs:/")
}

// url returns the URL of an object, or of all if the key is "".
func (b *gcs) url(key string, query url.Values) *url.URL {
	u := *b.server
	u.Path = "/storage/v1/b/" + b.bucket + "/o"
	u.RawPath = u.Path
	if key != "" {
		u.Path += "/" + key
		u.RawPath += "/" + escapeAll(key)
	}
	u.RawQuery = query.Encode()
	return &u
}

// escapeAll escapes a key as one element of a path.
func escapeAll(key string) string { return strings.ReplaceAll(url.QueryEscape(key), "+", "%20") }

// gcsObject is an object in answers.
type gcsObject struct {
	Name       string    `json:"name"`
	Size       string    `json:"size"`
	Generation string    `json:"generation"`
	Updated    time.Time `json:"updated"`
}

// parse returns the object with a key relative to the base.
func (g gcsObject) parse(base string) (object.Object, error) {
	key, ok := strings.CutPrefix(g.Name, base)
	if !ok {
		return object.Object{}, fmt.Errorf("expected names that start with %q, found %q", base, g.Name)
	}
	size, err := strconv.ParseInt(g.Size, 10, 64)
	if err != nil || size < 0 {
		return object.Object{}, fmt.Errorf("%s: size: expected a number of bytes, found %q", key, g.Size)
	}
	if _, err := strconv.ParseInt(g.Generation, 10, 64); err != nil && g.Generation != "" {
		return object.Object{}, fmt.Errorf("%s: generation: expected a number, found %q", key, g.Generation)
	}
	return object.Object{Key: key, Size: size, Modified: g.Updated.Truncate(time.Second), Version: g.Generation}, nil
}

// maxDescription is the largest description of an object that is read, in bytes.
const maxDescription = 64 << 10

// Head implements [object.Bucket].
func (b *gcs) Head(ctx context.Context, key string) (object.Object, error) {
	o, err := b.describe(ctx, key)
	return o, b.refusals.explain(ctx, err)
}

// describe is Head with refusals as the store gives them.
func (b *gcs) describe(ctx context.Context, key string) (o object.Object, err error) {
	start := time.Now()
	query := url.Values{"fields": {"name,size,generation,updated"}}
	var d described
	err = b.do(ctx, request{http.MethodGet, b.url(b.prefix+key, query), http.Header{}},
		func(answer *http.Response) (err error) {
			d, err = readAnswer(answer, maxDescription, buffered(func(body []byte) (d described, err error) {
				var g gcsObject
				if err = json.Unmarshal(body, &g); err == nil {
					d.Object, err = g.parse(b.prefix)
					d.validators.strong = d.Version
					if !g.Updated.IsZero() {
						d.validators.changed = g.Updated.UTC().Format(time.RFC3339Nano)
					}
				}
				return d, err
			}))
			return err
		})
	if err == nil {
		b.exists.Store(true)
		o, err = b.complete(ctx, d, request{http.MethodGet, b.url(b.prefix+key, url.Values{"alt": {"media"}}),
			asStored()}, generation)
	}
	if err == nil {
		b.found(key, start)
		return o, nil
	}
	return o, b.checkBucket(ctx, err)
}

// checkBucket returns an error that is not fs.ErrNotExist if the whole bucket does not exist.
func (b *gcs) checkBucket(ctx context.Context, err error) error {
	var f *failure
	if !errors.Is(err, fs.ErrNotExist) || b.exists.Load() || !errors.As(err, &f) {
		return err
	}
	u := *b.server
	u.Path, u.RawQuery = "/storage/v1/b/"+b.bucket+"/o", "maxResults=1&fields=nextPageToken"
	listErr := b.do(ctx, request{http.MethodGet, &u, http.Header{}}, func(*http.Response) error { return nil })
	var of *failure
	switch {
	case listErr == nil, errors.Is(listErr, fs.ErrPermission):
		b.exists.Store(true)
		return err
	case errors.Is(listErr, fs.ErrNotExist) && errors.As(listErr, &of):
		return missingBucket(of)
	}
	return listErr
}

// Read implements [object.Bucket].
func (b *gcs) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	return b.ReadParts(ctx, o, whole(p, off))
}

// ReadParts implements [object.Bucket].
func (b *gcs) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	start := time.Now()
	query := url.Values{"alt": {"media"}}
	if o.Version != "" && !strings.HasPrefix(o.Version, timeVersion) {
		query.Set("ifGenerationMatch", o.Version)
	}
	r := request{http.MethodGet, b.url(b.prefix+o.Key, query), asStored()}
	err := b.readParts(ctx, r, o, parts, versioned{generation, b.describe})
	if err == nil {
		b.found(o.Key, start)
	}
	return err
}

// asStored returns the header of a request for the bytes of an object. Objects that are stored with gzip are sent as
// they are only to clients that accept it. Else ranges would be ignored.
func asStored() http.Header { return http.Header{"Accept-Encoding": {"gzip"}} }

// generation returns the version of an answer.
func generation(h http.Header) validators { return validators{strong: h.Get("X-Goog-Generation")} }

// List implements [object.Bucket]. Each batch is one answer.
func (b *gcs) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	query := url.Values{
		"prefix": {b.prefix + prefix}, "maxResults": {"1000"},
		"fields": {"items(name,size,generation,updated),prefixes,nextPageToken"},
	}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	if after != "" {
		query.Set("startOffset", b.prefix+after)
	}
	return pages(b.timeout, after, func(token string) (p page, err error) {
		if token != "" {
			query.Set("pageToken", token)
		}
		err = b.do(ctx, request{http.MethodGet, b.url("", query), http.Header{}},
			func(answer *http.Response) (err error) {
				p, err = readAnswer(answer, maxPage, func(body *answerBody) (page,
					error) {
					return parseGCSPage(body, b.prefix)
				})
				return err
			})
		var f *failure
		if errors.Is(err, fs.ErrNotExist) && errors.As(err, &f) { // an empty listing is no error
			err = missingBucket(f)
		}
		return p, cannotList(err)
	})
}

// missingBucket returns the failure for a bucket that does not exist.
func missingBucket(f *failure) error {
	f.code, f.class = "NoSuchBucket", failedIO
	return f.advise("")
}

// parseGCSPage parses an answer to Objects: list. Keys in the result are relative to the base.
func parseGCSPage(body io.Reader, base string) (p page, err error) {
	r := &entryReader{body, maxEntry}
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return p, errors.New("expected JSON of objects")
	}
	for d.More() {
		name, err := d.Token()
		if err == nil {
			r.next()
			err = p.decode(d, r, name, base)
		}
		if err != nil {
			return page{}, fmt.Errorf("expected JSON of objects: %w", err)
		}
	}
	if _, err := d.Token(); err != nil {
		return page{}, fmt.Errorf("expected JSON of objects: %w", err)
	}
	p.sort()
	return p, nil
}

// decode decodes a member of an answer to Objects: list.
func (p *page) decode(d *json.Decoder, r *entryReader, name json.Token, base string) error {
	switch name {
	case "items":
		return decodeEach(d, r, func(g gcsObject) error {
			o, err := g.parse(base)
			if err != nil {
				return err
			}
			if o.Version == "" {
				o.Size = -1 // Head knows the version
			}
			return p.add(o)
		})
	case "prefixes":
		return decodeEach(d, r, func(prefix string) error {
			key, ok := strings.CutPrefix(prefix, base)
			if !ok {
				return fmt.Errorf("expected prefixes that start with %q, found %q", base, prefix)
			}
			return p.add(object.Object{Key: key})
		})
	case "nextPageToken":
		return d.Decode(&p.next)
	}
	var other json.RawMessage
	return d.Decode(&other)
}

// decodeEach decodes the values of a list or null. No value may be longer than what r reads at a time.
func decodeEach[T any](d *json.Decoder, r *entryReader, add func(T) error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("expected a list, found %v", t)
	}
	for d.More() {
		r.next()
		var value T
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := add(value); err != nil {
			return err
		}
	}
	r.next()
	_, err = d.Token()
	return err
}

// refusesList reports whether the store refuses to list the prefix.
func (b *gcs) refusesList(ctx context.Context) (bool, error) {
	for _, err := range b.List(ctx, "", "", "/") {
		if errors.Is(err, object.ErrCannotList) {
			return true, nil
		}
		return false, err
	}
	return false, nil
}

// googleTokens are Google's default credentials, if there are some.
type googleTokens struct {
	mu     sync.Mutex
	asked  bool
	source oauth2.TokenSource // nil: there are none
	owner  string             // a name of the credentials
}

// get returns the source of tokens. It is nil if there are no credentials.
func (t *googleTokens) get() oauth2.TokenSource {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked {
		return t.source
	}
	// Tokens are asked for by a client with a timeout. The context is that of all later requests, too.
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, loginClient())
	if found, err := google.FindDefaultCredentials(ctx, readScope); err == nil {
		t.source, t.owner = found.TokenSource, ownerOf(found.JSON)
	}
	t.asked = true // not after a panic
	return t.source
}

// ownerOf returns a name of credentials: a digest of their file, which has a key that nobody can guess.
func ownerOf(file []byte) string {
	if len(file) == 0 {
		return "the machine"
	}
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:16])
}

// Reader returns a name of the credentials, or "" if there are none.
func (b *gcs) Reader() string {
	if b.tokens == nil || b.tokens.get() == nil {
		return ""
	}
	return b.tokens.owner // get has set it, and it does not change
}

const readScope = "https://www.googleapis.com/auth/devstorage.read_only"

// signed adds a token to a request, if there are credentials.
func (b *gcs) signed(q *http.Request) (*http.Request, error) {
	source := b.tokens.get()
	if source == nil {
		return q, nil
	}
	token, err := source.Token()
	if err != nil {
		return nil, &failure{method: "credentials for", url: b.URL(), text: clean(err.Error()), class: fs.ErrPermission}
	}
	token.SetAuthHeader(q)
	return q, nil
}
