package web

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// item is an entry of a directory. Its JSON is an interface.
type item struct {
	Name string `json:"name"`
	Type string `json:"type"` // file or directory
	// Of files, in bytes; missing where the entry cannot be looked at.
	Size *int64 `json:"size,omitempty"`
	// RFC 3339, in UTC; missing where it is not known.
	MTime *time.Time `json:"mtime,omitempty"`
}

// items lists a directory, sorted by name.
func (h *handler) items(ctx context.Context, dir string) ([]item, error) {
	entries, err := fs.ReadDir(h.fsys, dir)
	if err != nil {
		return nil, err
	}
	items := make([]item, len(entries))
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		items[i] = describe(e)
	}
	return items, nil
}

func describe(e fs.DirEntry) item {
	it := item{Name: e.Name(), Type: "file"}
	if e.IsDir() {
		it.Type = "directory"
	}
	info, err := e.Info()
	if err != nil {
		return it
	}
	if !e.IsDir() {
		size := info.Size()
		it.Size = &size
	}
	if t := info.ModTime(); !t.IsZero() {
		t = t.UTC()
		it.MTime = &t
	}
	return it
}

// jsonIndex replies with the entries of a directory for programs.
func (h *handler) jsonIndex(w *response, r *http.Request, dir string) error {
	items, err := h.items(r.Context(), dir)
	if err != nil {
		return err
	}
	b, err := json.Marshal(items)
	if err != nil {
		return err
	}
	w.Header().Add("Vary", "Accept")
	h.made(w, r, "application/json", append(b, '\n'))
	return nil
}

// prefersHTML reports whether the client would rather have HTML than JSON, as browsers
// say and programs do not.
func prefersHTML(r *http.Request) bool {
	html, json := 0.0, 0.0
	for _, list := range r.Header.Values("Accept") {
		for entry := range strings.SplitSeq(list, ",") {
			switch kind, quality := weighted(entry); kind {
			case "text/html":
				html = quality
			case "application/json":
				json = quality
			}
		}
	}
	return html > json
}

// htmlIndex replies with the entries of a directory for people.
func (h *handler) htmlIndex(w *response, r *http.Request, dir string) error {
	items, err := h.items(r.Context(), dir)
	if err != nil {
		return err
	}
	link := linker(h.linkToken(r))
	page := indexPage{Title: h.options.Name + "/" + dir, Above: link.steps(h.options.Name, dir), Name: path.Base(dir)}
	for _, it := range items {
		page.Entries = append(page.Entries, indexEntry{
			item: it, Link: link.to(path.Join(dir, it.Name), it.Type == "directory"),
		})
	}
	return h.page(w, r, "index.html", page)
}

// indexPage is what index.html shows.
type indexPage struct {
	Title   string
	Above   []step // the directories above, from the root
	Name    string
	Entries []indexEntry
}

type indexEntry struct {
	item
	Link string
}
