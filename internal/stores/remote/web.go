package remote

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// web is an object.Bucket of a web server. The directories that it lists are index pages.
//
// Specification: RFC 9110, sections 8.8 (validators), 13 (conditions), 14 (ranges).
type web struct {
	*client
	base  *url.URL // with "/" at the end; its query is sent with every request
	log   *slog.Logger
	plain sync.Once // says that objects have no validators
}

func newWeb(u *url.URL, o Options) *web {
	base := *u
	base.Fragment, base.RawFragment = "", ""
	base.Path, base.RawPath = strings.TrimRight(u.Path, "/")+"/", strings.TrimRight(u.EscapedPath(), "/")+"/"
	if o.Anonymous {
		base.User = nil
	}
	b := &web{client: newClient(o), base: &base, log: o.Log}
	b.client.credentials = "write user and password into the URL: https://USER:PASSWORD@HOST/, or a token: https://HOST/?token=…"
	return b
}

// URL implements [object.Bucket].
func (b *web) URL() string { return strings.TrimRight(shown(b.base), "/") }

// Identity implements [object.Bucket]. The digest is in the place of the user.
func (b *web) Identity() string {
	if b.base.User == nil && b.base.RawQuery == "" {
		return b.URL()
	}
	scheme, rest, _ := strings.Cut(b.URL(), "://")
	return scheme + "://" + digestOf(secret{b.base.Host, b.base.User.String(), b.base.RawQuery}) + "@" + rest
}

// secret is what a server gets that may be secret.
type secret struct{ host, user, query string }

// digests are the digests of secrets. Each takes about 15 ms, and the layers of a dataset have the same.
var digests sync.Map

// digestOf returns a digest from which a weak password cannot be guessed soon: it is in files of a disk cache that a
// group may share.
func digestOf(s secret) string {
	if known, ok := digests.Load(s); ok {
		return known.(string)
	}
	const iterations = 100_000
	sum, err := pbkdf2.Key(sha256.New, fmt.Sprintf("%q %q", s.user, s.query), []byte("wkwfs "+s.host), iterations, 16)
	digest := hex.EncodeToString(sum)
	if err != nil { // a setting of Go forbids such passwords: share nothing with other processes
		digest = rand.Text()
	}
	digests.Store(s, digest)
	return digest
}

// url returns the URL of an object or, if the key is "" or ends with "/", of a directory.
func (b *web) url(key string) *url.URL {
	u := *b.base
	u.Path += key
	escaped := make([]string, 0, 8)
	for part := range strings.SplitSeq(key, "/") {
		escaped = append(escaped, url.PathEscape(part))
	}
	u.RawPath += strings.Join(escaped, "/")
	return &u
}

// ask returns a request for an object or a directory. Some servers compress what they send, unless the header says
// otherwise. A name that a server may take for a path out of the source is an error, and not absent: metadata can have
// any name.
func (b *web) ask(method, key string) (request, error) {
	r := request{method, b.url(key), http.Header{"Accept-Encoding": {"identity"}}}
	if key != "" && mayLeave(strings.TrimSuffix(key, "/")) {
		return r, fmt.Errorf("%s %s: a server may read the name as a path that leads out of the source: %w", method,
			shown(r.url), fs.ErrInvalid)
	}
	return r, nil
}

// Head implements [object.Bucket].
func (b *web) Head(ctx context.Context, key string) (o object.Object, err error) {
	r, err := b.ask(http.MethodHead, key)
	if err != nil {
		return o, err
	}
	var d described
	err = b.do(ctx, r, func(answer *http.Response) (err error) {
		switch {
		case isDirectory(b.url(key), answer.Request.URL):
			return permanent{object.ErrDirectory}
		case isPage(key, answer):
			return permanent{fmt.Errorf("a page, not a file: %w", fs.ErrNotExist)}
		}
		d, err = describeAnswer(key, answer)
		return err
	})
	if err == nil {
		r.method = http.MethodGet
		o, err = b.complete(ctx, d, r, validatorsOf)
	}
	var f *failure
	if errors.As(err, &f) && f.directory {
		return o, fmt.Errorf("%s: %w", shown(b.url(key)), object.ErrDirectory)
	}
	if err == nil && o.Version == "" {
		b.plain.Do(func() {
			b.log.Warn("the server gives neither ETag nor Last-Modified: changes of files will not be noticed", "url",
				b.URL())
		})
	}
	return o, err
}

// isPage reports whether an answer is the page that a server shows instead of files that do not exist.
func isPage(key string, answer *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return kind == "text/html" && path.Ext(key) != ".html" && path.Ext(key) != ".htm"
}

// Read implements [object.Bucket].
func (b *web) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	return b.ReadParts(ctx, o, whole(p, off))
}

// ReadParts implements [object.Bucket].
func (b *web) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	r, err := b.ask(http.MethodGet, o.Key)
	if err != nil {
		return err
	}
	setCondition(r.header, o.Version)
	return b.readParts(ctx, r, o, parts, versioned{validatorsOf, b.Head})
}

// List implements [object.Bucket] for directories: the prefix is "" or ends with "/", and the delimiter is "/". Sizes
// are -1, and there are no versions: [web.Head] knows them.
func (b *web) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		if delimiter != "/" || prefix != "" && !strings.HasSuffix(prefix, "/") {
			yield(nil, fmt.Errorf("%s: %w this", b.URL(), object.ErrCannotList))
			return
		}
		listed, err := b.index(ctx, prefix)
		if err != nil {
			yield(nil, err)
			return
		}
		for found := range listed.objects(prefix, after) {
			if !yield(found, nil) {
				return
			}
		}
	}
}

// index reads the index page of a directory.
func (b *web) index(ctx context.Context, prefix string) (found *names, err error) {
	r, err := b.ask(http.MethodGet, prefix)
	if err != nil {
		return nil, err
	}
	r.header.Set("Accept", "application/json, text/html;q=0.9")
	err = b.do(ctx, r, func(answer *http.Response) (err error) {
		found, err = readAnswer(answer, maxIndex, func(body *answerBody) (*names,
			error) {
			return parseIndex(answer, body)
		})
		return err
	})
	var f *failure
	switch {
	case errors.As(err, &f) && errors.Is(f.class, fs.ErrPermission) && f.status == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %w", object.ErrCannotList, err) // what nginx and Apache answer without an index
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", errNoIndex, err)
	}
	return found, err
}
