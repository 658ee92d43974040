package remote

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/internal/object"
)

// maxPage is the largest answer to a request for 1,000 objects that is read, in bytes. Keys have up to 1,024 bytes, which may be
// escaped.
const maxPage = 8 << 20

// page is a part of a listing.
type page struct {
	objects []object.Object
	next    string // asks for the next page; "": this is the last one
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
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "max-keys": {"1000"}, "prefix": {b.prefix + prefix}}
	if delimiter != "" {
		query.Set("delimiter", delimiter)
	}
	if after != "" {
		query.Set("start-after", b.prefix+after)
	}
	return pages(after, func(token string) (p page, err error) {
		if token != "" {
			query.Set("continuation-token", token)
		}
		err = b.send(ctx, http.MethodGet, "", query, nil, func(answer *http.Response) (err error) {
			p, err = readPage(answer, maxPage, func(body []byte) (page, error) { return parseS3Page(body, b.prefix) })
			return err
		})
		return p, cannotList(err)
	})
}

// pages yields pages, asking for one after the other.
func pages(after string, ask func(token string) (page, error)) iter.Seq2[[]object.Object, error] {
	return func(yield func([]object.Object, error) bool) {
		for token := ""; ; {
			p, err := ask(token)
			if err != nil {
				yield(nil, err)
				return
			}
			// A server that starts a page with the common prefix that contains after repeats it.
			p.objects = slices.DeleteFunc(p.objects, func(o object.Object) bool { return o.Key <= after })
			if !yield(p.objects, nil) || p.next == "" {
				return
			}
			if p.next == token {
				yield(nil, fmt.Errorf("the listing repeats its page %q: %w", clean(token), syscall.EIO))
				return
			}
			token = p.next
		}
	}
}

// cannotList returns ErrCannotList for a refusal of the listing itself.
func cannotList(err error) error {
	var f *failure
	if errors.As(err, &f) && errors.Is(f.class, fs.ErrPermission) && slices.Contains(absentCodes, f.code) {
		return fmt.Errorf("%w: %w", object.ErrCannotList, err)
	}
	return err
}

// pageBuffers has the memory of answers. An answer is a few hundred KiB, which is more than all that is kept of it.
var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPageBuffer is the size in bytes of the largest memory that is kept for other answers.
const maxPageBuffer = 1 << 20

// readPage reads and parses a page of up to limit bytes. The result of parse has no part of the memory that it gets.
func readPage(answer *http.Response, limit int64, parse func([]byte) (page, error)) (page, error) {
	buffer := pageBuffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxPageBuffer {
			buffer.Reset()
			pageBuffers.Put(buffer)
		}
	}()
	n, err := buffer.ReadFrom(io.LimitReader(answer.Body, limit+1))
	switch {
	case err != nil:
		return page{}, err
	case n > limit:
		return page{}, permanent{fmt.Errorf("the listing: expected at most %d bytes in an answer: %w", limit, syscall.EIO)}
	}
	p, err := parse(buffer.Bytes())
	switch {
	case errors.Is(err, object.ErrCannotList):
		return page{}, permanent{err}
	case err != nil:
		return page{}, permanent{fmt.Errorf("the listing: %w: %w", err, syscall.EIO)}
	}
	return p, nil
}

// parseS3Page parses an answer to ListObjectsV2. Keys in the result are relative to the base.
func parseS3Page(body []byte, base string) (page, error) {
	l, err := parseListing(body)
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
		o := object.Object{Key: key, Size: c.Size, Modified: c.LastModified.Truncate(time.Second), Version: strongTag(c.ETag)}
		if o.Version == "" {
			o.Size = -1 // Head knows the version
		}
		p.objects = append(p.objects, o)
	}
	for _, c := range l.Prefixes {
		key, err := listedKey(c.Prefix, l.Encoding, base)
		if err != nil {
			return page{}, err
		}
		p.objects = append(p.objects, object.Object{Key: key})
	}
	sortByKey(p.objects)
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

func sortByKey(objects []object.Object) {
	slices.SortFunc(objects, func(a, b object.Object) int { return strings.Compare(a.Key, b.Key) })
}
