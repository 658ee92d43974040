package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// ViewerPath is the path of the page that shows the layers in Neuroglancer. Without a viewer in the options, it
// redirects to Options.Neuroglancer. The query parameter layer names a layer to show. It may be repeated; without it,
// the page shows all layers.
const ViewerPath = "/" + ownPrefix + viewerPrefix

const (
	viewerPrefix   = "viewer/"
	viewerPage     = "index.html"
	stateName      = "state.json"
	layerParameter = "layer"
)

// viewerPolicy is the Content-Security-Policy of the viewer's files. Neuroglancer asks this server only, runs two
// workers, and compiles WebAssembly for codecs. It sets styles of elements, and draws pictures of data: and blob: URLs.
// The workers have the policy of their own files.
const viewerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// viewerTypes are the types of the viewer's files.
var viewerTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
}

// hasViewer reports whether pages can link to [ViewerPath].
func (h *handler) hasViewer() bool { return h.options.Viewer != nil || h.options.Neuroglancer != "" }

// isPublic reports whether a path is that of a file of the viewer, which needs no token: it is the same in all
// programs. The scripts of the page request them without a token.
func (h *handler) isPublic(urlPath string) bool {
	name, ok := strings.CutPrefix(urlPath, ViewerPath)
	if !ok || h.options.Viewer == nil || name == "" || !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(h.options.Viewer, name+".gz")
	return err == nil
}

// serveViewer replies with the page of the viewer, its state or one of its files. name is the path below viewerPrefix.
func (h *handler) serveViewer(w *response, r *http.Request, name string) error {
	switch {
	case name == "" && !h.hasViewer():
	case name == "" && h.options.Viewer == nil:
		return h.redirectToViewer(w, r)
	case name == "":
		return h.serveViewerFile(w, r, viewerPage)
	case name == stateName && h.options.Viewer != nil:
		return h.serveState(w, r)
	case h.options.Viewer != nil && fs.ValidPath(name):
		return h.serveViewerFile(w, r, name)
	}
	return &fs.PathError{Op: "open", Path: r.URL.Path, Err: fs.ErrNotExist}
}

// serveViewerFile replies with a file of the viewer.
func (h *handler) serveViewerFile(w *response, r *http.Request, name string) error {
	b, err := unpack(h.options.Viewer, name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", viewerPolicy)
	w.Header().Set("Referrer-Policy", "no-referrer") // the URL may have the token
	h.serveBytes(w, r, viewerTypes[path.Ext(name)], b)
	return nil
}

// unpack returns the content of a file of the viewer.
func unpack(viewer fs.FS, name string) ([]byte, error) {
	packed, err := fs.ReadFile(viewer, name+".gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
