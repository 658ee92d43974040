package nfs

import (
	"errors"
	"io/fs"
	"path"

	"github.com/wkwfs/wkwfs/internal/serve/nfs/xdr"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
)

// A cookie is the index of the entry that follows: "." has the index 0, ".." the index 1, and the entries of the
// file system follow.

// readDir lists a directory (3.3.16).
func (r *request) readDir() error {
	h, err := r.handle()
	cookie, verifier, limit := r.args.Uint64(), r.args.Uint64(), r.args.Uint32()
	if err = errors.Join(r.parsed(), err); err != nil {
		return err
	}
	return r.list(h, cookie, verifier, limits{all: limit, names: limit}, false)
}

// readDirPlus lists a directory with attributes and handles (3.3.17).
func (r *request) readDirPlus() error {
	h, err := r.handle()
	cookie, verifier, names, all := r.args.Uint64(), r.args.Uint64(), r.args.Uint32(), r.args.Uint32()
	if err = errors.Join(r.parsed(), err); err != nil {
		return err
	}
	return r.list(h, cookie, verifier, limits{all: all, names: names}, true)
}

// limits are the sizes that a client wants, in bytes: of the results, and of the names, file ids and cookies in it.
type limits struct{ all, names uint32 }

// maxCookie bounds the entries of a directory.
const maxCookie = 1 << 40

// list encodes the results of a listing. The verifier of cookies is always 0: an index says what entry to go on with
// even if the directory has changed, as in a mount.
func (r *request) list(h handle, cookie, verifier uint64, want limits, plus bool) error {
	info, err := r.current(h)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return statusNotDir
	case !r.from.may(info, mayRead):
		return statusAccess
	case cookie > maxCookie || verifier != 0:
		return statusBadCookie
	}
	r.out.Uint32(uint32(statusOK))
	r.putPostAttr(h.path, info)
	r.out.Uint64(0) // verifier
	const head, end = 4 + 4 + attrSize + 8, 8
	w := &entryWriter{out: r.out, server: r.server, plus: plus, hidden: !r.from.may(info, maySearch),
		all: int(min(want.all, maxListing)) - head - end, names: int(min(want.names, maxListing))}
	ended, err := r.listEntries(w, h.path, int(cookie))
	switch {
	case err != nil:
		return err
	case !w.any && !ended:
		return statusTooSmall
	}
	r.out.Bool(false) // no more entries in this reply
	r.out.Bool(ended)
	return nil
}

// listEntries writes the entries from an index on that fit. ended reports whether they are the last ones.
func (r *request) listEntries(w *entryWriter, dir string, index int) (ended bool, err error) {
	for ; index < 2; index++ {
		name, at := ".", dir
		if index == 1 {
			name, at = "..", path.Dir(dir)
		}
		if !w.fits(name) {
			return false, nil
		}
		d := described{name: name, path: at}
		if w.describes() {
			d.info, _ = r.server.directories.stat(at) // the attributes are optional
		}
		w.put(d, index+1)
	}
	l := r.server.listings.at(dir, index-2)
	defer func() { r.server.listings.keep(l) }()
	for l.fill() {
		n := 0
		for n < len(l.rest) && w.fits(l.rest[n].Name()) {
			n++
		}
		for e, d := range parallel.Each(l.rest[:n], func(e fs.DirEntry) described { return r.describe(w, dir, e) }) {
			_ = e
			index++
			w.put(d, index)
		}
		more := n < len(l.rest)
		if l.skip(n); more {
			return false, nil
		}
	}
	return l.err == nil, l.err
}

// described is an entry of a listing. info is nil if it has no attributes.
type described struct {
	name, path string
	info       fs.FileInfo
}

// describe describes an entry, if the listing has attributes. An entry that cannot be described has none.
func (r *request) describe(w *entryWriter, dir string, e fs.DirEntry) described {
	d := described{name: e.Name(), path: path.Join(dir, e.Name())}
	if w.describes() {
		var err error
		d.info, err = guard.Call("nfs.describe", func() (fs.FileInfo, error) {
			guard.Pass("nfs.describe")
			return fs.Stat(r.server.fsys, d.path)
		})
		guard.Report(err, "path", d.path)
	}
	return d
}

// entryWriter encodes entries within limits.
type entryWriter struct {
	out        *xdr.Encoder
	server     *Server
	plus       bool // with attributes and handles
	hidden     bool // the caller may not search the directory, so entries have none
	all, names int  // bytes that are left
	any        bool
}

// describes reports whether entries have attributes and handles.
func (w *entryWriter) describes() bool { return w.plus && !w.hidden }

// nameSize is the size of an entry without its attributes and its handle: a boolean, the file id, the name and the
// cookie.
func nameSize(name string) int { return 4 + 8 + xdr.OpaqueSize(len(name)) + 8 }

// fits reserves the largest size that an entry may have. It returns false if there is no room for it.
func (w *entryWriter) fits(name string) bool {
	size := nameSize(name)
	all := size
	if w.plus {
		all += 4 + attrSize + 4 + xdr.OpaqueSize(maxHandle)
	}
	if all > w.all || size > w.names {
		return false
	}
	w.all -= all
	w.names -= size
	return true
}

// put encodes an entry.
func (w *entryWriter) put(d described, cookie int) {
	w.any = true
	w.out.Bool(true)
	w.out.Uint64(fileID(d.path))
	w.out.String(d.name)
	w.out.Uint64(uint64(cookie))
	if !w.plus {
		return
	}
	w.out.Bool(d.info != nil)
	if d.info != nil {
		w.server.putAttr(w.out, d.path, d.info)
	}
	w.out.Bool(d.info != nil)
	if d.info != nil {
		w.out.Opaque(w.server.handles.encode(handleOf(d.path, d.info)))
	}
}
