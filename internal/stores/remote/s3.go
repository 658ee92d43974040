package remote

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/wkwfs/wkwfs/internal/stores/object"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// s3 is an object.Bucket of an S3 server.
//
// Specification: Amazon S3 API Reference, HeadObject, GetObject, ListObjectsV2.
type s3 struct {
	*client
	refusals
	bucket, prefix string
	keys           *keyring

	place  atomic.Pointer[place]
	exists atomic.Bool // a request for the bucket has succeeded
}

// place is where a bucket is.
type place struct {
	endpoint *url.URL // nil: AWS
	region   string
	virtual  bool // the bucket is a part of the name of the host
}

func newS3(bucket, prefix string, o Options) (object.Bucket, error) {
	config, err := loadAWS(o)
	if err != nil {
		return nil, err
	}
	keys, err := newKeyring(o, config)
	if err != nil {
		return nil, err
	}
	b := &s3{client: newClient(o), bucket: bucket, prefix: prefix, keys: keys}
	// a signature is for one host
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	b.place.Store(config.place(bucket))
	b.sign = b.signed
	b.client.credentials = b.keys.hint()
	b.refusals = refusals{log: o.Log, url: b.URL(), describe: b.describe, forbidsList: b.refusesList}
	return b, nil
}

// URL implements [object.Bucket].
func (b *s3) URL() string { return strings.TrimSuffix("s3://"+b.bucket+"/"+b.prefix, "/") }

// Identity implements [object.Bucket]. Names of buckets are unique in a partition of AWS only, such as that of the US
// government.
func (b *s3) Identity() string {
	p := b.place.Load()
	if e := p.endpoint; e != nil {
		return e.Scheme + "://" + e.Host + strings.TrimSuffix(e.Path, "/") + strings.TrimPrefix(b.URL(), "s3:/")
	}
	for _, partition := range []string{"cn-", "us-gov-", "us-iso", "eu-iso", "eusc-"} {
		if strings.HasPrefix(p.region, partition) {
			return "s3://" + partition + "@" + strings.TrimPrefix(b.URL(), "s3://")
		}
	}
	return b.URL()
}

// Reader returns a name of the credentials, or "" if there are none.
func (b *s3) Reader() string { return b.keys.owner() }

// url returns the URL of an object, or of the bucket if the key is "".
func (b *s3) url(key string, query url.Values) *url.URL {
	p := b.place.Load()
	u := &url.URL{Scheme: "https", Host: "s3." + p.region + ".amazonaws.com", Path: "/"}
	if p.endpoint != nil {
		u.Scheme, u.Host, u.Path = p.endpoint.Scheme, p.endpoint.Host, strings.TrimSuffix(p.endpoint.Path, "/")+"/"
	}
	if p.virtual {
		u.Host = b.bucket + "." + u.Host
	} else {
		u.Path += b.bucket + "/"
	}
	u.Path += key
	u.RawPath = s3utils.EncodePath(u.Path) // which is what is signed
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u
}

// send sends a request. If the bucket is in another region, it sends it there, and all later requests too.
func (b *s3) send(ctx context.Context, method, key string, query url.Values, header http.Header,
	take func(*http.Response) error) error {
	if header == nil {
		header = http.Header{}
	}
	for moves := 0; ; moves++ {
		err := b.do(ctx, request{method, b.url(key, query), header}, take)
		if err == nil {
			b.exists.Store(true)
		}
		if moves > 0 || !b.move(err) {
			return err
		}
	}
}

// move goes to the region that a failure names, and reports whether that is another one.
func (b *s3) move(err error) bool {
	var f *failure
	if !errors.As(err, &f) || f.header == nil {
		return false
	}
	region, now := f.header.Get("X-Amz-Bucket-Region"), b.place.Load()
	if region == "" || region == now.region || !isRegion(region) {
		return false
	}
	if f.status != http.StatusMovedPermanently && f.status != http.StatusTemporaryRedirect &&
		f.status != http.StatusBadRequest &&
		f.status != http.StatusForbidden {
		return false
	}
	moved := *now
	moved.region = region
	b.place.Store(&moved)
	return true
}

// isRegion reports whether text can be the name of a region, which becomes a part of a host name.
func isRegion(text string) bool {
	return len(text) < 64 && text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Head implements [object.Bucket].
func (b *s3) Head(ctx context.Context, key string) (object.Object, error) {
	o, err := b.describe(ctx, key)
	return o, b.refusals.explain(ctx, err)
}

// describe is Head with refusals as the store gives them.
func (b *s3) describe(ctx context.Context, key string) (o object.Object, err error) {
	start := time.Now()
	var d described
	err = b.send(ctx, http.MethodHead, b.prefix+key, nil, nil, func(answer *http.Response) (err error) {
		d, err = describeAnswer(key, answer)
		return err
	})
	if err == nil {
		o, err = b.complete(ctx, d, request{http.MethodGet, b.url(b.prefix+key, nil), http.Header{}}, validatorsOf)
	}
	var f *failure
	if errors.As(err, &f) && (f.status == http.StatusForbidden || f.status == http.StatusBadRequest ||
		f.status == http.StatusNotFound) {
		err = b.reason(ctx, key, err)
	}
	if err == nil {
		b.found(key, start)
	}
	return o, err
}

// reason returns the error of a GET instead of that of a HEAD, whose answer has no body with a code.
func (b *s3) reason(ctx context.Context, key string, headErr error) error {
	f := new(failure)
	if errors.As(headErr, &f); f.status == http.StatusNotFound && b.exists.Load() {
		return headErr // the bucket exists
	}
	err := b.send(ctx, http.MethodGet, b.prefix+key, nil, http.Header{"Range": {"bytes=0-0"}},
		func(*http.Response) error { return nil })
	if err == nil {
		return headErr
	}
	return err
}

// Read implements [object.Bucket].
func (b *s3) Read(ctx context.Context, o object.Object, p []byte, off int64) error {
	return b.ReadParts(ctx, o, whole(p, off))
}

// ReadParts implements [object.Bucket].
func (b *s3) ReadParts(ctx context.Context, o object.Object, parts []vfs.Range) error {
	start := time.Now()
	header := http.Header{}
	setCondition(header, o.Version)
	err := b.readParts(ctx, request{http.MethodGet, b.url(b.prefix+o.Key, nil), header}, o, parts,
		versioned{validatorsOf, b.describe})
	if err != nil && b.move(err) {
		err = b.readParts(ctx, request{http.MethodGet, b.url(b.prefix+o.Key, nil), header}, o, parts,
			versioned{validatorsOf, b.describe})
	}
	if err == nil {
		b.exists.Store(true)
		b.found(o.Key, start)
	}
	return err
}

// refusesList reports whether the store refuses to list the prefix.
func (b *s3) refusesList(ctx context.Context) (bool, error) {
	for _, err := range b.List(ctx, "", "", "/") {
		if errors.Is(err, object.ErrCannotList) {
			return true, nil
		}
		return false, err
	}
	return false, nil
}
