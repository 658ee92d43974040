package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/wkwfs/wkwfs/internal/object"
)

// maxIndex is the size of the largest index of a directory that is read, in bytes. An entry takes about 100 bytes.
const maxIndex = 32 << 20

// errNoIndex says that a server has nothing at the URL of a directory. Its files may exist: servers without indexes answer so, too.
var errNoIndex = fmt.Errorf("there is no index: %w", object.ErrCannotList)

// parseIndex returns the entries of a directory: JSON as that of nginx and of wkwfs serve, or a page with links as those of nginx,
// Apache, lighttpd and Python. Other pages are errors that wrap [object.ErrCannotList].
func parseIndex(answer *http.Response, body []byte, prefix string) (page, error) {
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	var names []string
	var err error
	switch kind {
	case "application/json":
		names, err = parseJSONIndex(body)
	case "text/html", "application/xhtml+xml":
		names, err = parseHTMLIndex(body, answer.Request.URL)
	default:
		err = errNotIndex
	}
	if err != nil {
		return page{}, err
	}
	p, seen := page{}, map[string]bool{}
	for _, name := range names {
		plain := strings.TrimSuffix(name, "/")
		if plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "/\x00") || seen[plain] {
			continue
		}
		seen[plain] = true
		o := object.Object{Key: prefix + name, Size: -1}
		if plain != name {
			o.Size = 0
		}
		p.objects = append(p.objects, o)
	}
	sortByKey(p.objects)
	return p, nil
}

// errNotIndex is the error of an answer that is not the index of a directory.
var errNotIndex = fmt.Errorf("not an index of a directory: %w", object.ErrCannotList)

// parseJSONIndex returns the names in the index of nginx (autoindex_format json) or of wkwfs serve. Those of directories end with
// "/".
func parseJSONIndex(body []byte) ([]string, error) {
	var entries []struct{ Name, Type string }
	if err := json.Unmarshal(body, &entries); err != nil {
		return nil, errNotIndex
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch e.Type {
		case "file":
			names = append(names, strings.TrimSuffix(e.Name, "/"))
		case "directory":
			names = append(names, strings.TrimSuffix(e.Name, "/")+"/")
		case "":
			return nil, errNotIndex
		}
	}
	return names, nil
}

// indexTitles are how titles of index pages start.
var indexTitles = []string{"index of ", "directory listing for ", "listing of "}

// parseHTMLIndex returns the names that an index page links to. Those of directories end with "/". at is the URL of the page.
func parseHTMLIndex(body []byte, at *url.URL) (names []string, err error) {
	t := html.NewTokenizer(bytes.NewReader(body))
	isIndex, inTitle := false, false
	for {
		switch t.Next() {
		case html.ErrorToken:
			if !isIndex {
				return nil, errNotIndex
			}
			return names, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttributes := t.TagName()
			switch string(name) {
			case "title", "h1", "h2":
				inTitle = true
			case "a":
				inTitle = false
				if child, ok := childOf(at, link(t, hasAttributes)); ok {
					names = append(names, child)
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

// childOf returns the name of what a link leads to if that is a child of the page. Other links sort the page, or lead up or away.
func childOf(at *url.URL, target string) (string, bool) {
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
