package remote

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/wkwfs/wkwfs/internal/stores/object"
)

// maxIndex is the size of the largest index of a directory that is read, in bytes. An entry takes about 100 bytes.
const maxIndex = 32 << 20

// errNoIndex says that a server has nothing at the URL of a directory. Its files may exist: servers without indexes
// answer so, too.
var errNoIndex = fmt.Errorf("there is no index: %w", object.ErrCannotList)

// parseIndex returns the entries of a directory: JSON as that of nginx and of wkwfs serve, or a page with links as
// those of nginx, Apache, lighttpd and Python. Other pages are errors that wrap [object.ErrCannotList].
func parseIndex(answer *http.Response, body io.Reader) (*names, error) {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	found := &names{}
	var err error
	switch kind {
	case "application/json":
		err = parseJSONIndex(body, found)
	case "text/html", "application/xhtml+xml":
		err = parseHTMLIndex(body, answer.Request.URL, found)
	default:
		err = errNotIndex
	}
	if err != nil {
		return nil, err
	}
	found.sort()
	return found, nil
}

// errNotIndex is the error of an answer that is not the index of a directory.
var errNotIndex = fmt.Errorf("not an index of a directory: %w", object.ErrCannotList)

// maxEntry is the size in bytes of the largest part of an index that is parsed at a time: an entry of JSON, or a tag or
// a text of HTML.
const maxEntry = 64 << 10

// entryReader reads up to maxEntry bytes between calls of next.
type entryReader struct {
	io.Reader
	left int
}

func (r *entryReader) next() { r.left = maxEntry }

// Read implements [io.Reader].
func (r *entryReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, errNotIndex
	}
	n, err := r.Reader.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// parseJSONIndex adds the names in the index of nginx (autoindex_format json) or of wkwfs serve.
func parseJSONIndex(body io.Reader, found *names) error {
	r := &entryReader{body, maxEntry}
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errNotIndex
	}
	for d.More() {
		var e struct{ Name, Type string }
		if err := d.Decode(&e); err != nil {
			return errNotIndex
		}
		r.next()
		name := strings.TrimSuffix(e.Name, "/")
		switch e.Type {
		case "file":
		case "directory":
			name += "/"
		case "":
			return errNotIndex
		default:
			continue
		}
		if err := found.add(name); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errNotIndex
	}
	if _, err := d.Token(); err != io.EOF {
		return errNotIndex
	}
	return nil
}

// indexTitles are how titles of index pages start.
var indexTitles = []string{"index of ", "directory listing for ", "listing of "}

// parseHTMLIndex adds the names that an index page links to. at is the URL of the page.
func parseHTMLIndex(body io.Reader, at *url.URL, found *names) error {
	t := html.NewTokenizer(body)
	t.SetMaxBuf(maxEntry)
	isIndex, inTitle := false, false
	for {
		switch t.Next() {
		case html.ErrorToken:
			if !isIndex || t.Err() != io.EOF {
				return errNotIndex
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttributes := t.TagName()
			switch string(name) {
			case "title", "h1", "h2":
				inTitle = true
			case "a":
				inTitle = false
				if child, ok := childOf(at, link(t, hasAttributes)); ok {
					if err := found.add(child); err != nil {
						return err
					}
				}
			}
		case html.EndTagToken:
			inTitle = false
		case html.TextToken:
			if inTitle && startsWithAny(strings.ToLower(strings.TrimSpace(string(t.Text()))), indexTitles) {
				isIndex = true
			}
		}
	}
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s+" ", p) {
			return true
		}
	}
	return false
}

// link returns the target of a link.
func link(t *html.Tokenizer, more bool) (target string) {
	for more {
		var name, value []byte
		if name, value, more = t.TagAttr(); string(name) == "href" {
			target = string(value)
		}
	}
	return target
}

// childOf returns the name of what a link leads to if that is a child of the page. Other links sort the page, or lead
// up or away.
func childOf(at *url.URL, target string) (string, bool) {
	if isPlainTarget(target) {
		return target, true
	}
	u, err := at.Parse(target)
	if err != nil || target == "" || u.Host != at.Host || u.RawQuery != "" && u.RawQuery != at.RawQuery {
		return "", false
	}
	dir := at.EscapedPath()
	dir = dir[:strings.LastIndexByte(dir, '/')+1]
	rest, ok := strings.CutPrefix(u.EscapedPath(), dir)
	name, err := url.PathUnescape(rest)
	if !ok || err != nil || strings.Contains(strings.TrimSuffix(rest, "/"), "/") || strings.Trim(name, "/") == "" {
		return "", false
	}
	return name, true
}

// isPlainTarget reports whether a link is the name of a child as it is. Most are, and to parse a URL takes ten times as
// long.
func isPlainTarget(target string) bool {
	name := strings.TrimSuffix(target, "/")
	for _, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return name != "" && name != "." && name != ".."
}
