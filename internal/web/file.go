package web

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// contentTypes are those of the files of a tree. What is voxels has none of its own.
var contentTypes = map[string]string{
	".json": "application/json",
	"info":  "application/json", // of a Precomputed volume
	".tif":  "image/tiff",
	".png":  "image/png",
	".jpg":  "image/jpeg",
	".xmf":  "application/xml",
	".nhdr": "text/plain; charset=utf-8",
	".mhd":  "text/plain; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".md":   "text/plain; charset=utf-8",
}

func contentType(name string) string {
	for _, key := range []string{path.Ext(name), path.Base(name)} {
		if t, ok := contentTypes[key]; ok {
			return t
		}
	}
	return "application/octet-stream"
}

// file replies with a file.
func (h *handler) file(w *response, r *http.Request, name string) error {
	f, err := h.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened: the name may be another file by now
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("ETag", fileTag(info))
	c := newContent(r.Context(), f, info.Size())
	h.serve(w, r, info.ModTime(), info.Size(), c)
	if err := c.stop(); err != nil && w.failed == nil {
		return &unreadable{err}
	}
	return nil
}

// fileTag names the content of the file.
func fileTag(info fs.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, vfs.VersionOf(info), info.Size())
}

// made replies with bytes that were made for the request.
func (h *handler) made(w *response, r *http.Request, contentType string, b []byte) {
	sum := sha256.Sum256(b)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:16]))
	h.serve(w, r, time.Time{}, int64(len(b)), bytes.NewReader(b))
}

// serve replies with the content, whose type and version are in the headers.
func (h *handler) serve(w *response, r *http.Request, modified time.Time, size int64, c io.ReadSeeker) {
	// A cache may keep it, and has to ask each time whether it still is so.
	caching := "no-cache"
	if h.options.Token != "" {
		caching = "private, no-cache"
	}
	w.Header().Set("Cache-Control", caching)
	if since := r.Header.Get("If-Range"); since != "" && !strings.HasPrefix(since, `"`) {
		// A date is exact to the second: a part could be glued to one of another version.
		r.Header.Del("Range")
	}
	w.negotiateGzip(r, size)
	http.ServeContent(w, r, "", modified, c)
}
