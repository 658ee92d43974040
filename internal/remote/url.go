package remote

import (
	"net/url"
	"path"
	"strings"
)

// The functions below work on the text of URLs such as s3://BUCKET/KEY or https://HOST/PATH?QUERY. Keys are not escaped in the
// former, but in the latter.

// parts are the parts of a URL.
type parts struct {
	top   string // scheme and bucket or host, such as s3://BUCKET
	path  string // without "/" at its ends
	query string // with "?"
}

func split(rawURL string) parts {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	var p parts
	if scheme == "http" || scheme == "https" {
		rest, _, _ = strings.Cut(rest, "#")
		if i := strings.IndexByte(rest, '?'); i >= 0 {
			rest, p.query = rest[:i], rest[i:]
		}
	}
	top, below, _ := strings.Cut(rest, "/")
	p.top, p.path = scheme+"://"+top, strings.Trim(below, "/")
	return p
}

func (p parts) String() string {
	if p.path == "" {
		return p.top + p.query
	}
	return p.top + "/" + p.path + p.query
}

// formatPrefixes are what Neuroglancer and others write before a URL. The format is recognised without.
var formatPrefixes = []string{"precomputed://", "zarr://", "zarr2://", "zarr3://", "n5://", "wkw://"}

// Clean returns a URL in its usual form: without the prefix for a format, and without "/" at the end.
func Clean(rawURL string) string {
	for _, prefix := range formatPrefixes {
		if rest, ok := strings.CutPrefix(rawURL, prefix); ok && strings.Contains(rest, "://") {
			rawURL = rest
		}
	}
	scheme, rest, _ := strings.Cut(rawURL, "://")
	return split(strings.ToLower(scheme) + "://" + rest).String()
}

// Base returns the last element of the path of a URL, not escaped. It returns the name of the bucket or host if there is no path.
func Base(rawURL string) string {
	p := split(rawURL)
	if p.path == "" {
		_, name, _ := strings.Cut(Display(p.top), "://")
		return name
	}
	name := path.Base(p.path)
	if plain, err := url.PathUnescape(name); err == nil && isHTTP(rawURL) {
		return plain
	}
	return name
}

// Dir returns the URL of the directory that a URL is in. At the top of a bucket or host it returns that.
func Dir(rawURL string) string {
	p := split(rawURL)
	if p.path = path.Dir(p.path); p.path == "." {
		p.path = ""
	}
	return p.String()
}

// IsTop reports whether a URL is that of a bucket or host.
func IsTop(rawURL string) bool { return split(rawURL).path == "" }

// Join returns the URL of a relative path, which may start with "..". It cannot leave the bucket or the host.
func Join(rawURL, below string) string {
	p := split(rawURL)
	if isHTTP(rawURL) {
		below = (&url.URL{Path: below}).EscapedPath()
	}
	p.path = strings.Trim(path.Join("/", p.path, below), "/")
	return p.String()
}

// IsBelow reports whether a URL is a directory of the source with the URL root, or the source itself. Elements such as ".." lead
// out.
func IsBelow(rawURL, root string) bool {
	p, r := split(rawURL), split(root)
	if p.path != strings.Trim(path.Join("/", p.path), "/") || strings.Contains(strings.ToLower(p.path), "%2e") {
		return false
	}
	return Display(p.top) == Display(r.top) && (p.path == r.path || r.path == "" || strings.HasPrefix(p.path, r.path+"/"))
}

// WithSecrets returns a URL with the user, the password and the query of another one, for the same host.
func WithSecrets(rawURL, of string) string {
	p, o := split(rawURL), split(of)
	if Display(p.top) != Display(o.top) || !isHTTP(of) {
		return rawURL
	}
	p.top, p.query = o.top, o.query
	return p.String()
}

func isHTTP(rawURL string) bool {
	return strings.HasPrefix(rawURL, "http://") || strings.HasPrefix(rawURL, "https://")
}
