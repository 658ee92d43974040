//go:build linux

package fsnode

import (
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// onceReads decides which files are read past the page cache. It is for files that programs usually read once (see
// [Pusher]), and learns from all programs that use the mount.
//
// Past the page cache, the kernel sends a request for each read(2). A program that reads 1 MiB at a time gains, because
// there are fewer requests and no new pages. A program that reads 4 KiB at a time waits for the server each time, and
// one that reads 128 KiB at a time and works in between has no readahead. A program that reads the file again finds
// nothing in the page cache. Such programs lose with one file. After it, the next files are read through the page
// cache.
type onceReads struct {
	limits onceLimits
	cached atomic.Int32 // the number of opens that will use the page cache
	large  atomic.Bool  // the last reader that showed how it reads used large pieces, or may have
}

// direct reports whether a file of size bytes is read past the page cache when it is opened now for the first time.
func (o *onceReads) direct(size int64) bool {
	if o.cached.Load() > 0 && o.cached.Add(-1) >= 0 {
		return false
	}
	return size > o.limits.least && (size <= o.limits.unseen || o.large.Load())
}

// avoid makes the next opens use the page cache.
func (o *onceReads) avoid() {
	o.large.Store(false)
	o.cached.Store(o.limits.opens)
}

// onceReader watches the first reader of a file that is usually read once.
type onceReader struct {
	all    *onceReads
	direct bool // the file is read past the page cache

	large, small atomic.Int32 // pieces
	bytes        atomic.Int64 // of small pieces
	lost         atomic.Bool
}

// observe records a request for n bytes at offset off. Past the page cache, its length is that of a piece of the
// reader. Through the page cache, only the first request says something: it is 128 KiB if the piece is as long or
// longer, and else less.
func (r *onceReader) observe(off int64, n int) {
	switch l := &r.all.limits; {
	case !r.direct && off == 0 && int64(n) >= l.least:
		r.all.large.Store(true)
	case !r.direct || r.lost.Load():
	case n >= l.large:
		r.large.Add(1)
		r.all.large.Store(true)
	default:
		// The kernel adds a small piece to each large one if the memory of the reader does not start with a page.
		many := r.small.Add(1) >= l.smallPieces+2*r.large.Load()
		if long := r.bytes.Add(int64(n)) >= l.smallBytes; (many || long) && !r.lost.Swap(true) {
			r.all.avoid()
		}
	}
}

// watch returns what observes the reader of the file, and decides whether it reads past the page cache. It returns nil
// if the file is not usually read once, or was opened before. Then it is read through the page cache, which has it for
// further readers.
func (n *node) watch(f openFile) *onceReader {
	if n.opened.Swap(true) {
		if n.openedOnce.Swap(false) {
			n.onceReads.avoid()
		}
		return nil
	}
	if o, ok := f.File.(vfs.Pusher); !ok || !o.ReadOnce() || !n.mapsDirect.Load() {
		return nil
	}
	r := &onceReader{all: &n.onceReads, direct: n.onceReads.direct(f.info.Size())}
	n.openedOnce.Store(r.direct)
	return r
}
