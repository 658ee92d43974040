package web

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/log"
)

// Options configures a [Handler].
type Options struct {
	// Name is the title of the start page.
	Name string
	// Token is required in every request, unless it is empty: in the header "Authorization: Bearer TOKEN" or, for
	// links, in the query parameter token.
	Token string
	// Origins are the web sites whose scripts may read, such as "https://example.org". "*" is all sites.
	Origins []string
	// Viewer has the files of a Neuroglancer, each compressed with gzip as NAME.gz: a page index.html, and what it
	// needs. The page requests state.json beside it. The server has these files at [ViewerPath]. They need no token.
	Viewer fs.FS
	// Neuroglancer is the URL of the viewer that pages open if Viewer is nil. Origins should have its site. If it is
	// empty, too, pages have no links to a viewer.
	Neuroglancer string
	// MaxRequests is how many requests are answered at once, shared fairly between the addresses of clients. A request
	// above the limit waits for ten seconds and then gets status 503. 0 means [DefaultMaxRequests].
	MaxRequests int
	// Log receives each error of the files once and, at level debug, every request. Nil discards them.
	Log *slog.Logger
}

// DefaultMaxRequests is the default of Options.MaxRequests. Each request has a buffer of 256 KiB.
const DefaultMaxRequests = 128

// ownPrefix starts the paths that belong to the server, not to the tree.
const ownPrefix = tree.Server + "/"

// Handler returns a handler that serves the files and directories of fsys. It reads files with vfs.ReadAt and the
// context of the request.
func Handler(fsys fs.FS, o Options) http.Handler {
	if o.MaxRequests == 0 {
		o.MaxRequests = DefaultMaxRequests
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &handler{
		fsys:     fsys,
		options:  o,
		slots:    newSlots(o.MaxRequests),
		errors:   log.NewFaults(o.Log),
		pictures: newPictureCache(),
	}
}

type handler struct {
	fsys     fs.FS
	options  Options
	slots    *slots
	errors   *log.Faults
	pictures *pictureCache
}

func (h *handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := newResponse(rw)
	start := time.Now()
	defer func() {
		// Not the query: it may have the token.
		h.options.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "range", r.Header.Get("Range"),
			"status", w.status, "bytes", w.sent, "took", time.Since(start), "from", r.RemoteAddr)
	}()
	err := guard.Do("web.request", func() error {
		if err := h.reply(w, r); err != nil {
			return err
		}
		return w.finish()
	})
	if err != nil {
		h.fail(w, r, err)
	}
}

// filePolicy is the Content-Security-Policy of all replies but pages. A file that a browser takes for a page can do
// nothing.
const filePolicy = "default-src 'none'; sandbox"

// reply checks the request and writes the reply. If it fails, part of the reply may have been sent.
func (h *handler) reply(w *response, r *http.Request) error {
	w.Header().Set("Content-Security-Policy", filePolicy)
	h.allowOrigin(w.Header(), r)
	switch r.Method {
	case http.MethodOptions:
		return h.preflight(w, r)
	case http.MethodGet, http.MethodHead:
	default:
		w.Header().Set("Allow", allowedMethods)
		return refuse(http.StatusMethodNotAllowed, "the methods are "+allowedMethods)
	}
	if r.ContentLength != 0 {
		return refuse(http.StatusRequestEntityTooLarge, "a request must not have a body")
	}
	if !h.isPublic(r.URL.Path) && !h.authorised(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="wkwfs"`)
		return refuse(http.StatusUnauthorized, "a token is required: Authorization: Bearer TOKEN, or ?token=TOKEN")
	}
	slot, err := h.slots.acquire(r.Context(), r.RemoteAddr, w.control)
	if err != nil {
		return err
	}
	defer h.slots.release(slot)
	w.slot = slot
	guard.Pass("web.request")
	return h.route(w, r)
}

// route serves what the path names. A path that ends with a slash must name a directory.
func (h *handler) route(w *response, r *http.Request) error {
	name, slash := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if own, ok := strings.CutPrefix(name, ownPrefix); ok {
		return h.serveOwn(w, r, own)
	}
	switch {
	case r.URL.Path == "/":
		name = "."
	case !fs.ValidPath(name) || name == ".":
		return &fs.PathError{Op: "open", Path: r.URL.Path, Err: fs.ErrNotExist}
	}
	info, err := fs.Stat(h.fsys, name)
	switch {
	case err != nil:
		return err
	case !info.IsDir() && slash:
		return &fs.PathError{Op: "open", Path: name + "/", Err: fs.ErrNotExist}
	case !info.IsDir():
		return h.serveFile(w, r, name)
	case !prefersHTML(r):
		return h.serveJSONIndex(w, r, name)
	case name == ".":
		return h.serveStartPage(w, r)
	}
	return h.serveHTMLIndex(w, r, name)
}

// fail replies with the error. If the headers were sent already, it cuts the connection.
func (h *handler) fail(w *response, r *http.Request, err error) {
	if r.Context().Err() != nil || errors.Is(err, errWrite) {
		panic(http.ErrAbortHandler) // the client is gone
	}
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		h.errors.Report("read", strings.TrimPrefix(r.URL.Path, "/"), err)
	}
	if w.headersSent {
		panic(http.ErrAbortHandler)
	}
	w.writeError(status, err.Error())
}
