package copier

import (
	"os"
	"sync"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// offered is what the source has of a file before it is asked for: it is written where it
// belongs, and the ranges that come to it later leave it out. Sources offer what they would
// have to make anew for each plane of a layer that is too large for the cache.
type offered struct {
	out  *os.File
	side int64 // bytes of a range

	mu      sync.Mutex               // held while a piece is written
	written map[int64]map[int64]bool // whole pages, by their numbers, of each range
	ended   bool
}

const page = 4 << 10

// accept has the source offer what it comes by.
func (o *offered) accept(f *file) {
	if in, ok := f.in.(vfs.Pusher); ok && f.ranges > 1 {
		*o = offered{out: f.out, side: f.side, written: map[int64]map[int64]bool{}}
		in.Push(vfs.Sink{Page: page, Piece: 256 << 10, Ahead: 512 << 10, Write: o.take})
	}
}

// take writes whole pages. An error is found again by who copies the range.
func (o *offered) take(p []byte, off int64) (more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return false
	}
	if _, err := o.out.WriteAt(p, off); err != nil {
		return false
	}
	for at := off; at < off+int64(len(p)); at += page {
		pages := o.written[at/o.side]
		if pages == nil {
			pages = map[int64]bool{}
			o.written[at/o.side] = pages
		}
		pages[at/page] = true
	}
	return true
}

// missing returns the first stretch of bytes in [off, end), of one range, that is not
// written; an empty one at end if there is none.
func (o *offered) missing(off, end int64) (from, to int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	pages := o.written[off/max(o.side, 1)]
	if len(pages) == 0 {
		return off, end
	}
	from = off
	for from < end && pages[from/page] {
		from = (from/page + 1) * page
	}
	from = min(from, end)
	to = from
	for to < end && !pages[to/page] {
		to = (to/page + 1) * page
	}
	return from, min(to, end)
}

// forget ends what is known of a range that has been copied.
func (o *offered) forget(i int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.written, i)
}

// end takes nothing more: the file is about to get its times.
func (o *offered) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
}
