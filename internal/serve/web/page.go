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

	"github.com/wkwfs/wkwfs/internal/small/hint"
)

//go:embed pages
var pageFiles embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"bytes": formatBytes,
	"time":  func(t time.Time) string { return t.Format("2006-01-02 15:04:05") },
	"style": func() (template.CSS, error) {
		b, err := pageFiles.ReadFile("pages/style.css")
		return template.CSS(b), err
	},
	// The icon is part of the page: a browser would request a file without the token.
	"icon": func() (template.URL, error) {
		b, err := pageFiles.ReadFile("pages/icon.svg")
		return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b)), err
	},
}).ParseFS(pageFiles, "pages/*.html"))

// servePage replies with a page. The Content-Security-Policy allows it nothing but its own style and pictures of this
// server. Names and errors on it have no characters that change how others look.
func (h *handler) servePage(w *response, r *http.Request, name string, data any) error {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	header := w.Header()
	header.Add("Vary", "Accept")
	header.Set("Content-Security-Policy",
		"default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the URL may have the token
	h.serveBytes(w, r, "text/html; charset=utf-8", []byte(hint.EscapeLines(b.String())))
	return nil
}

// linker makes links that have the token in their query. The empty linker makes links without a token.
type linker string

// to returns the link to a path of the tree.
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

// toViewer returns the link that opens layers in Neuroglancer. Without names, it opens all layers.
func (l linker) toViewer(layers ...string) string {
	query := url.Values{}
	if l != "" {
		query.Set(tokenParameter, string(l))
	}
	for _, name := range layers {
		query.Add(layerParameter, name)
	}
	u := url.URL{Path: ViewerPath, RawQuery: query.Encode()}
	return u.String()
}

func (l linker) query() string {
	if l == "" {
		return ""
	}
	return url.Values{tokenParameter: {string(l)}}.Encode()
}

type namedLink struct{ Name, Link string }

// parents returns links to the directories above name, from the root on. root is the name of the root.
func (l linker) parents(root, name string) []namedLink {
	links := []namedLink{{root, l.to(".", true)}}
	parent := path.Dir(name)
	if parent == "." {
		return links
	}
	dir := ""
	for part := range strings.SplitSeq(parent, "/") {
		dir = path.Join(dir, part)
		links = append(links, namedLink{part, l.to(dir, true)})
	}
	return links
}

// formatBytes formats a size: 1536 is "1.5 KiB".
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

// formatNumber formats a number with at most 6 digits.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
