package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// page is a part of a listing.
type page struct {
	objects []object.Object
	text    int    // bytes of keys and versions
	next    string // asks for the next page; "": this is the last one
}

const (
	// maxListed is how many objects an answer is asked for.
	maxListed = 1000

	// mostListed is how many objects and prefixes an answer may have. Some servers count only the objects.
	mostListed = 10 * maxListed

	// maxTags is how many tags an answer of S3 may have. AWS sends up to 26 for an object.
	maxTags = 64 * maxListed

	// maxKey is the length in bytes of the longest key of S3 and GCS, and maxVersion that of the longest version that
	// is believed.
	maxKey, maxVersion = 1024, 256

	// mostText is how many bytes of keys and versions an answer may have.
	mostText = 2 << 20
)

// add adds an object or a prefix. It returns an error if an answer may not have it.
func (p *page) add(o object.Object) error {
	if len(o.Key) > maxKey || len(o.Version) > maxVersion {
		return fmt.Errorf("expected a key of at most %d bytes and a version of at most %d, found %d and %d", maxKey,
			maxVersion, len(o.Key), len(o.Version))
	}
	p.text += len(o.Key) + len(o.Version)
	if len(p.objects) == mostListed || p.text > mostText {
		return fmt.Errorf("expected at most %d names with %d bytes in an answer, found more", mostListed, mostText)
	}
	p.objects = append(p.objects, o)
	return nil
}

func (p *page) sort() {
	slices.SortFunc(p.objects, func(a, b object.Object) int { return strings.Compare(a.Key, b.Key) })
}

// listPage is an answer to ListObjectsV2.
type listPage struct {
	XMLName   xml.Name       `xml:"ListBucketResult"`
	Encoding  string         `xml:"EncodingType"`
	Objects   []listedObject `xml:"Contents"`
	Prefixes  []listedPrefix `xml:"CommonPrefixes"`
	Truncated bool           `xml:"IsTruncated"`
	Next      string         `xml:"NextContinuationToken"`
}

type listedObject struct {
	Key          string
	Size         int64
	LastModified listedTime
	ETag         string
}

// listedTime is a time, or the zero time if the text is none.
type listedTime struct{ time.Time }

// UnmarshalText implements [encoding.TextUnmarshaler]. It returns no error. The usual form needs no memory.
func (t *listedTime) UnmarshalText(text []byte) error {
	if t.Time.UnmarshalText(text) != nil {
		t.Time, _ = time.Parse(time.RFC3339, string(text)) // which takes a little more
	}
	return nil
}

type listedPrefix struct{ Prefix string }

// List implements [object.Bucket]. Each batch is one answer.
func (b *s3) List(ctx context.Context, prefix, after, delimiter string) iter.Seq2[[]object.Object, error] {
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "max-keys": {"1000"},
		"prefix": {b.prefix + prefix}}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	if after != "" {
		query.Set("start-after", b.prefix+after)
	}
	return pages(b.timeout, after, func(token string) (p page, err error) {
		if token != "" {
			query.Set("continuation-token", token)
		}
		err = b.send(ctx, http.MethodGet, "", query, nil, func(answer *http.Response) (err error) {
			p, err = readAnswer(answer, maxPage, buffered(func(body []byte) (page,
				error) {
				return parseS3Page(body, b.prefix)
			}))
			return err
		})
		return p, cannotList(err)
	})
}

// pages yields pages, asking for one after the other. A server may give pages for ever. So each 1,000 names have to
// come within the timeout, as far as pages waits for them.
func pages(timeout time.Duration, after string, ask func(token string) (page, error)) iter.Seq2[[]object.Object,
	error] {
	return func(yield func([]object.Object, error) bool) {
		made := progress{timeout: timeout}
		for token := ""; ; {
			start := time.Now()
			p, err := ask(token)
			if err != nil {
				yield(nil, err)
				return
			}
			// A server that starts a page with the common prefix that contains after repeats it.
			p.objects = slices.DeleteFunc(p.objects, func(o object.Object) bool { return o.Key <= after })
			err = made.add(p.objects, time.Since(start))
			if !yield(p.objects, nil) || p.next == "" {
				return
			}
			if p.next == token {
				err = fmt.Errorf("the listing repeats its page %q: %w", clean(token), syscall.EIO)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			token = p.next
		}
	}
}

// progress is how a listing goes on.
type progress struct {
	timeout time.Duration
	waited  time.Duration // for the last names
	names   int           // greater than all before
	last    string
}

// add adds a page, sorted by key. It returns an error if the listing goes on too slowly.
func (p *progress) add(objects []object.Object, took time.Duration) error {
	p.waited += took
	for _, o := range objects {
		if o.Key > p.last {
			p.names++
			p.last = o.Key
		}
	}
	if p.names >= maxListed {
		p.names, p.waited = 0, 0
	}
	if p.waited > p.timeout {
		return fmt.Errorf("the listing does not end: expected %d new names within %v of requests, found %d: %w",
			maxListed, p.timeout, p.names, syscall.EIO)
	}
	return nil
}

// cannotList returns ErrCannotList for a refusal of the listing itself.
func cannotList(err error) error {
	var f *failure
	if errors.As(err, &f) && errors.Is(f.class, fs.ErrPermission) && slices.Contains(absentCodes, f.code) {
		return fmt.Errorf("%w: %w", object.ErrCannotList, err)
	}
	return err
}

// parseS3Page parses an answer to ListObjectsV2. Keys in the result are relative to the base.
func parseS3Page(body []byte, base string) (page, error) {
	err := checkMarkup(body, maxTags)
	var l listPage
	if err == nil {
		l, err = parseListing(body)
	}
	if err != nil {
		return page{}, fmt.Errorf("expected XML of ListObjectsV2: %w", err)
	}
	p := page{objects: make([]object.Object, 0, len(l.Objects)+len(l.Prefixes))}
	if l.Truncated {
		if p.next = l.Next; p.next == "" {
			return page{}, errors.New("IsTruncated, but no NextContinuationToken")
		}
	}
	for _, c := range l.Objects {
		key, err := listedKey(c.Key, l.Encoding, base)
		if err != nil {
			return page{}, err
		}
		if c.Size < 0 {
			return page{}, fmt.Errorf("%s: Size: expected a number of bytes, found %d", key, c.Size)
		}
		o := object.Object{Key: key, Size: c.Size, Modified: c.LastModified.Truncate(time.Second),
			Version: strongTag(c.ETag)}
		if o.Version == "" {
			o.Size = -1 // Head knows the version
		}
		if err := p.add(o); err != nil {
			return page{}, err
		}
	}
	for _, c := range l.Prefixes {
		key, err := listedKey(c.Prefix, l.Encoding, base)
		if err != nil {
			return page{}, err
		}
		if err := p.add(object.Object{Key: key}); err != nil {
			return page{}, err
		}
	}
	p.sort()
	return p, nil
}

// listedKey returns a key of a listing relative to the base.
func listedKey(key, encoding, base string) (string, error) {
	if encoding == "url" {
		plain, err := url.QueryUnescape(key)
		if err != nil {
			return "", fmt.Errorf("key %q: %w", key, err)
		}
		key = plain
	}
	rest, ok := strings.CutPrefix(key, base)
	if !ok {
		return "", fmt.Errorf("expected keys that start with %q, found %q", base, key)
	}
	return rest, nil
}
