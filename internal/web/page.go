package web

import (
	"bytes"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"bytes":  formatBytes,
	"number": formatNumber,
	"time":   func(t time.Time) string { return t.Format("2006-01-02 15:04:05") },
	"style": func() (template.CSS, error) {
		b, err := pageFiles.ReadFile("pages/style.css")
		return template.CSS(b), err
	},
	// In the page itself: the browser would ask for a file without the token.
	"icon": func() (template.URL, error) {
		b, err := pageFiles.ReadFile("pages/icon.svg")
		return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b)), err
	},
}).ParseFS(pageFiles, "pages/*.html"))

// page replies with a page. It needs nothing but itself and pictures of ours, and a
// browser holds it to that.
func (h *handler) page(w *response, r *http.Request, name string, data any) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	header := w.Header()
	header.Add("Vary", "Accept")
	header.Set("Content-Security-Policy", "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the address may have the token
	h.made(w, r, "text/html; charset=utf-8", b.Bytes())
	return nil
}

// linker makes links that carry the token; empty: none.
type linker string

// to is the link to a name of the tree.
func (l linker) to(name string, isDir bool) string {
	u := url.URL{Path: "/" + name}
	switch {
	case name == ".":
		u.Path = "/"
	case isDir:
		u.Path += "/"
	}
	u.RawQuery = l.query()
	return u.String()
}

func (l linker) query() string {
	if l == "" {
		return ""
	}
	return url.Values{tokenParameter: {string(l)}}.Encode()
}

// step is a directory on the way to another one.
type step struct{ Name, Link string }

// steps are the directories above name, the root first.
func (l linker) steps(root, name string) []step {
	steps := []step{{root, l.to(".", true)}}
	parent := path.Dir(name)
	if parent == "." {
		return steps
	}
	at := ""
	for part := range strings.SplitSeq(parent, "/") {
		at = path.Join(at, part)
		steps = append(steps, step{part, l.to(at, true)})
	}
	return steps
}

// formatBytes writes a size for people: 1536 is "1.5 KiB".
func formatBytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	size, unit := float64(n), -1
	for size >= 1023.95 && unit < len(units)-1 {
		size /= 1024
		unit++
	}
	digits := 1
	if size >= 10 {
		digits = 0
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + units[unit:unit+1] + "iB"
}

// formatNumber writes a number for people: with no more digits than it needs.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
