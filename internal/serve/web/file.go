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

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// contentTypes has the types of files by extension or base name. Files of voxels have no type of their own.
var contentTypes = map[string]string{
	tree.JSON:    "application/json",
	tree.Info:    "application/json",
	tree.TIFF:    "image/tiff",
	".zattrs":    "application/json",
	".zarray":    "application/json",
	".zgroup":    "application/json",
	".zmetadata": "application/json",
	".png":       "image/png",
	".jpg":       "image/jpeg",
	".xmf":       "application/xml",
	".nhdr":      "text/plain; charset=utf-8",
	".mhd":       "text/plain; charset=utf-8",
	".txt":       "text/plain; charset=utf-8",
	".md":        "text/plain; charset=utf-8",
}

func contentType(name string) string {
	for _, key := range []string{path.Ext(name), path.Base(name)} {
		if t, ok := contentTypes[key]; ok {
			return t
		}
	}
	return "application/octet-stream"
}

// serveFile replies with a file of the tree.
func (h *handler) serveFile(w *response, r *http.Request, name string) error {
	f, err := h.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat() // not of the name, which may be another file by now
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType(name))
	w.Header().Set("ETag", fileTag(info))
	c := newContent(r.Context(), f, info.Size())
	h.serveContent(w, r, info.ModTime(), info.Size(), c)
	if err := c.stop(); err != nil && w.err == nil {
		return &readError{err}
	}
	return nil
}

// fileTag returns the ETag of a file: it identifies the content.
func fileTag(info fs.FileInfo) string {
	return fmt.Sprintf(`"%x-%x"`, vfs.VersionOf(info), info.Size())
}

// serveBytes replies with bytes that were generated for the request. Their hash is the ETag.
func (h *handler) serveBytes(w *response, r *http.Request, contentType string, b []byte) {
	sum := sha256.Sum256(b)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum[:16]))
	h.serveContent(w, r, time.Time{}, int64(len(b)), bytes.NewReader(b))
}

// serveContent replies with size bytes of c. The caller has set the headers Content-Type and ETag.
func (h *handler) serveContent(w *response, r *http.Request, modified time.Time, size int64, c io.ReadSeeker) {
	// no-cache lets a cache store the reply. The cache has to ask before each use whether the reply is still valid.
	caching := "no-cache"
	if h.options.Token != "" {
		caching = "private, no-cache"
	}
	w.Header().Set("Cache-Control", caching)
	if condition := r.Header.Get("If-Range"); condition != "" && !strings.HasPrefix(condition, `"`) {
		// A date has a resolution of one second: the client could join ranges of two versions.
		r.Header.Del("Range")
	}
	w.negotiateGzip(r, size)
	http.ServeContent(w, r, "", modified, c)
}
