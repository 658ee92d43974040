package web

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/wkwfs/wkwfs/errlog"
)

// Options says who may read, and what the start page says.
type Options struct {
	// Name is the title of the start page.
	Name string
	// Token, unless it is empty, has to be in every request: as "Authorization: Bearer
	// TOKEN" or as the parameter token of the query, for links.
	Token string
	// Origins are the web sites whose scripts may read, such as "https://example.org".
	// None are all.
	Origins []string
	// Neuroglancer is the address of the viewer that the start page links to; empty: no links.
	Neuroglancer string
	// MaxRequests is how many requests are answered at once; what is above is told to come
	// again. 0 is [DefaultMaxRequests].
	MaxRequests int
	// Log receives what is wrong with the files, each error once, and at the level debug
	// every request.
	Log *slog.Logger
}

// DefaultMaxRequests is how many requests are answered at once. Each has a buffer
// of 256 KiB.
const DefaultMaxRequests = 128

// ownPrefix begins the paths that are not of the tree.
const ownPrefix = ".wkwfs/"

// Handler answers for the files and directories of fsys. Its files are read as package
// vfs says, with the context of the request.
func Handler(fsys fs.FS, o Options) http.Handler {
	if o.MaxRequests == 0 {
		o.MaxRequests = DefaultMaxRequests
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &handler{
		fsys:    fsys,
		options: o,
		slots:   make(chan struct{}, o.MaxRequests),
		report:  errlog.New(o.Log),
		gallery: newGallery(),
	}
}

type handler struct {
	fsys    fs.FS
	options Options
	slots   chan struct{} // one for each request that is being answered
	report  *errlog.Log
	gallery *gallery
}

func (h *handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := newResponse(rw)
	begin := time.Now()
	defer func() {
		// The query is left out: it may have the token.
		h.options.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "range", r.Header.Get("Range"),
			"status", w.status, "bytes", w.sent, "took", time.Since(begin), "from", r.RemoteAddr)
	}()
	err := h.answer(w, r)
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		h.fail(w, r, err)
	}
}

// answer writes the reply; an error is what prevents that.
func (h *handler) answer(w *response, r *http.Request) error {
	h.allowOrigin(w.Header(), r)
	switch r.Method {
	case http.MethodOptions:
		return h.preflight(w, r)
	case http.MethodGet, http.MethodHead:
	default:
		w.Header().Set("Allow", methods)
		return refuse(http.StatusMethodNotAllowed, "there is nothing but "+methods+" here")
	}
	if r.ContentLength != 0 {
		return refuse(http.StatusRequestEntityTooLarge, "a request to read has no body")
	}
	if !h.authorised(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="wkwfs"`)
		return refuse(http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN")
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		return errBusy
	}
	return h.route(w, r)
}

// route finds what the path means. A slash at its end is allowed, and demands a
// directory.
func (h *handler) route(w *response, r *http.Request) error {
	name, slash := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if own, ok := strings.CutPrefix(name, ownPrefix); ok {
		return h.own(w, r, own)
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
		return h.file(w, r, name)
	case !prefersHTML(r):
		return h.jsonIndex(w, r, name)
	case name == ".":
		return h.startPage(w, r)
	}
	return h.htmlIndex(w, r, name)
}

// fail replies with the error, or cuts the connection if the reply has begun.
func (h *handler) fail(w *response, r *http.Request, err error) {
	if r.Context().Err() != nil || errors.Is(err, errWrite) {
		panic(http.ErrAbortHandler) // nobody listens
	}
	status := statusOf(err)
	if status == http.StatusInternalServerError {
		h.report.Report("read", strings.TrimPrefix(r.URL.Path, "/"), err)
	}
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	w.error(status, err.Error())
}
