package remote

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// Options say how to reach a store.
type Options struct {
	Timeout   time.Duration // of a request with all its attempts; 0: DefaultTimeout
	Depth     int           // connections that are kept; 0: 64
	Anonymous bool          // use no credentials
	Endpoint  string        // URL of the S3 server; "": as AWS' tools find it
	Region    string        // of S3; "": as AWS' tools find it
	UserAgent string
	Log       *slog.Logger // gets warnings; nil: none
}

// DefaultTimeout is the default of [Options].Timeout.
const DefaultTimeout = time.Minute

// Schemes are the schemes of URLs that [Open] takes.
var Schemes = []string{"s3", "gs", "https", "http"}

// Open returns the objects below a URL: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or http(s)://HOST/PATH. It sends no
// request.
func Open(rawURL string, o Options) (object.Bucket, error) {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.Depth = cmp.Or(o.Depth, 64)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		// err has all of the URL
		return nil, hint.Usagef("write % as %25 and spaces as %20", "%s: not a URL", Display(rawURL))
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return nil, hint.Usagef("", "%s: expected a host after %s://", Display(rawURL), u.Scheme)
		}
		return newWeb(u, o), nil
	case "s3", "gs":
		bucket, prefix, err := splitURL(rawURL)
		if err != nil {
			return nil, err
		}
		if u.Scheme == "gs" {
			return newGCS(bucket, prefix, o)
		}
		return newS3(bucket, prefix, o)
	}
	return nil, hint.Usagef("write "+strings.Join(Schemes, "://, ")+"://", "%s: unknown kind of URL", Display(rawURL))
}

// splitURL splits s3://BUCKET/PREFIX. The prefix is not escaped: keys may have any characters. It ends with "/", or is
// "".
func splitURL(rawURL string) (bucket, prefix string, err error) {
	_, rest, _ := strings.Cut(rawURL, "://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if bucket == "" || strings.ContainsAny(bucket, "@?#:%\\ ") {
		return "", "", hint.Usagef("credentials come from the environment and files, never from a URL",
			"%s: expected the name of a bucket", Display(rawURL))
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return bucket, prefix, nil
}

// Display returns a URL without what may be secret: user, password, query and fragment. Other text, such as a path,
// stays as it is.
func Display(rawURL string) string {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok || scheme == "s3" || scheme == "gs" {
		return rawURL
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, hasPath := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if hasPath {
		path = "/" + path
	}
	return fmt.Sprintf("%s://%s%s", scheme, host, path)
}
