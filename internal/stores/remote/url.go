package remote

import (
	"encoding/hex"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// The functions below work on the text of URLs such as s3://BUCKET/KEY or https://HOST/PATH?QUERY. Keys are not escaped
// in the former, but in the latter.

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

// Base returns the last element of the path of a URL, not escaped. It returns the name of the bucket or host if there
// is no path.
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

// IsBelow reports whether a URL is a directory of the source with the URL root, or the source itself, for every server
// that may read it: see mayLeave.
func IsBelow(rawURL, root string) bool {
	p, r := split(rawURL), split(root)
	rest, ok := cutElements(p.path, r.path, isHTTP(rawURL))
	return ok && sameServer(p.top, r.top) && (rest == "" || !mayLeave(rest))
}

// cutElements cuts the first elements off a path if they are those of another path. Escaped elements are compared
// decoded.
func cutElements(path, first string, escaped bool) (rest string, ok bool) {
	for first != "" {
		var a, b string
		a, path, _ = strings.Cut(path, "/")
		b, first, _ = strings.Cut(first, "/")
		if escaped {
			a, b = decodeEscapes(a), decodeEscapes(b)
		}
		if a != b {
			return "", false
		}
	}
	return path, true
}

// sameServer reports whether the tops of two URLs are one bucket, or one host, port and scheme.
func sameServer(a, b string) bool {
	if a == b || !isHTTP(a) || !isHTTP(b) {
		return a == b
	}
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && serverOf(u) == serverOf(v)
}

// serverOf returns the scheme, the host and the port of a URL in one form.
func serverOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// mayLeave reports whether some server reads a path as one that leads out of the directory that it starts in. The path
// may be escaped.
//
// Servers and proxies read paths in many ways. They decode escapes once or more often. They take "\" for "/", and
// overlong UTF-8 for characters. They cut elements at ";" or NUL, and spaces and dots off the ends. They join an
// absolute path to a directory, which replaces that. So no element may be empty or only dots in any of these readings.
func mayLeave(path string) bool {
	for {
		if !utf8.ValidString(path) {
			return true
		}
		for element := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
			if i := strings.IndexAny(element, ";\x00"); i >= 0 {
				element = element[:i]
			}
			if strings.Trim(element, ". ") == "" {
				return true
			}
		}
		decoded := decodeEscapes(path)
		if decoded == path {
			return false
		}
		path = decoded
	}
}

// decodeEscapes decodes each escape once. It leaves what is none, as lenient servers do.
func decodeEscapes(s string) string {
	parts := strings.Split(s, "%")
	for i, part := range parts[1:] {
		decoded := "%" + part
		if len(part) >= 2 {
			if c, err := hex.DecodeString(part[:2]); err == nil {
				decoded = string(c) + part[2:]
			}
		}
		parts[i+1] = decoded
	}
	return strings.Join(parts, "")
}

// WithSecrets returns a URL with the user, the password and the query of another one, for the same host.
func WithSecrets(rawURL, of string) string {
	p, o := split(rawURL), split(of)
	if !isHTTP(of) || !sameServer(p.top, o.top) {
		return rawURL
	}
	p.top, p.query = o.top, o.query
	return p.String()
}

func isHTTP(rawURL string) bool {
	return strings.HasPrefix(rawURL, "http://") || strings.HasPrefix(rawURL, "https://")
}
