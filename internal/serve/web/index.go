package web

import (
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// entry is an entry of a directory. Its JSON is a public interface.
type entry struct {
	Name  string     `json:"name"`
	Type  string     `json:"type"`            // file or directory
	Size  *int64     `json:"size,omitempty"`  // bytes; nil for directories and entries without attributes
	MTime *time.Time `json:"mtime,omitempty"` // RFC 3339, UTC; nil if not known
}

// batches yields the entries of a directory as vfs.List does.
func (h *handler) batches(ctx context.Context, dir string) iter.Seq2[[]entry, error] {
	return func(yield func([]entry, error) bool) {
		for found, err := range vfs.List(h.fsys, dir) {
			entries := make([]entry, len(found))
			for i := range found {
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					break
				}
				entries[i] = describe(found[i])
			}
			if !yield(entries, err) || err != nil {
				return
			}
		}
	}
}

// maxShown is about the number of entries that a page shows. A larger directory takes too much memory, here and in a
// browser.
const maxShown = 20_000

// list returns the entries of a directory for a page, the first ones if there are many. more reports whether there are
// others.
func (h *handler) list(ctx context.Context, dir string) (entries []entry, more bool, err error) {
	for batch, err := range h.batches(ctx, dir) {
		if err != nil {
			return nil, false, err
		}
		if len(entries) >= maxShown {
			return entries, true, nil
		}
		entries = append(entries, batch...)
	}
	return entries, false, nil
}

func describe(e fs.DirEntry) entry {
	described := entry{Name: e.Name(), Type: "file"}
	if e.IsDir() {
		described.Type = "directory"
	}
	info, err := e.Info()
	if err != nil {
		return described
	}
	if !e.IsDir() {
		size := info.Size()
		described.Size = &size
	}
	if t := info.ModTime(); !t.IsZero() {
		t = t.UTC()
		described.MTime = &t
	}
	return described
}

// serveJSONIndex replies with the entries of a directory, for programs. The reply for a large directory is sent while
// the directory is listed. It has no ETag.
func (h *handler) serveJSONIndex(w *response, r *http.Request, dir string) error {
	w.Header().Add("Vary", "Accept")
	separator := "["
	for entries, err := range h.batches(r.Context(), dir) {
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			continue
		}
		b, err := json.Marshal(entries)
		switch {
		case err != nil:
			return err
		case separator == "[" && len(entries) < vfs.BatchSize: // that is all
			h.serveBytes(w, r, "application/json", append(b, '\n'))
			return nil
		case separator == "[":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			if r.Method == http.MethodHead {
				return nil
			}
		}
		b[0] = separator[0] // the batches become one list
		if _, err := w.Write(b[:len(b)-1]); err != nil {
			return err
		}
		separator = ","
	}
	if separator == "[" {
		h.serveBytes(w, r, "application/json", []byte("[]\n"))
		return nil
	}
	_, err := w.Write([]byte("]\n"))
	return err
}

// prefersHTML reports whether the client prefers HTML to JSON. Browsers do, programs do not.
func prefersHTML(r *http.Request) bool {
	html, json := 0.0, 0.0
	for _, list := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(list, ",") {
			switch mediaType, quality := splitQuality(item); mediaType {
			case "text/html":
				html = quality
			case "application/json":
				json = quality
			}
		}
	}
	return html > json
}

// serveHTMLIndex replies with the entries of a directory, for people.
func (h *handler) serveHTMLIndex(w *response, r *http.Request, dir string) error {
	entries, more, err := h.list(r.Context(), dir)
	if err != nil {
		return err
	}
	link := linker(h.linkToken(r))
	return h.servePage(w, r, "index.html", indexPage{
		Title:   h.options.Name + "/" + dir,
		Parents: link.parents(h.options.Name, dir),
		Name:    path.Base(dir),
		Listing: listing{link.entries(dir, entries), more},
	})
}

// indexPage is the data of index.html.
type indexPage struct {
	Title   string
	Parents []namedLink // the directories above, from the root on
	Name    string
	Listing listing
}

// listing is the entries of a directory on a page.
type listing struct {
	Entries []linkedEntry
	More    bool // there are others
}

type linkedEntry struct {
	entry
	Link string
}

func (l linker) entries(dir string, entries []entry) []linkedEntry {
	linked := make([]linkedEntry, len(entries))
	for i, e := range entries {
		linked[i] = linkedEntry{e, l.to(path.Join(dir, e.Name), e.Type == "directory")}
	}
	return linked
}
