package copier

import (
	"os"
	"sync"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// pushed writes the bytes that the source pushes before they are read, and records which pages it has written. The jobs
// do not read those pages. A source pushes bytes that it would otherwise have to decode again for each plane, as of a
// layer that is too large for the cache.
type pushed struct {
	out       *os.File
	rangeSize int64 // bytes
	page      int64 // bytes; a range has whole pages
	size      int64 // of the file, in bytes

	mu      sync.Mutex               // held while pages are written
	written map[int64]map[int64]bool // range → numbers of the whole pages that are written
	stopped bool
}

// pageSize is the unit of pushed bytes and of errors.
const pageSize = 4 << 10

// start asks the source to push, if it can.
func (p *pushed) start(f *file) {
	if in, ok := f.in.(vfs.Pusher); ok && f.ranges > 1 {
		*p = pushed{out: f.out, rangeSize: f.rangeSize, page: pageSize, size: f.info.Size(),
			written: map[int64]map[int64]bool{}}
		in.Push(vfs.Sink{Page: p.page, Piece: 256 << 10, Ahead: 512 << 10, Write: p.write})
	}
}

// write writes whole pages and reports whether the source may push more. It refuses other bytes. It does not report
// errors: the job that copies the range meets them again.
func (p *pushed) write(b []byte, off int64) (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || !(vfs.Sink{Page: p.page}).Takes(off, int64(len(b)), p.size) {
		return false
	}
	if _, err := p.out.WriteAt(b, off); err != nil {
		return false
	}
	for at := off; at < off+int64(len(b)); at += p.page {
		pages := p.written[at/p.rangeSize]
		if pages == nil {
			pages = map[int64]bool{}
			p.written[at/p.rangeSize] = pages
		}
		pages[at/p.page] = true
	}
	return true
}

// nextMissing returns the first bytes of [off, end), a part of one range, that were not pushed. If there are none, from
// and to are end.
func (p *pushed) nextMissing(off, end int64) (from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pages := p.written[off/max(p.rangeSize, 1)]
	if len(pages) == 0 {
		return off, end
	}
	from = off
	for from < end && pages[from/p.page] {
		from = (from/p.page + 1) * p.page
	}
	from = min(from, end)
	to = from
	for to < end && !pages[to/p.page] {
		to = (to/p.page + 1) * p.page
	}
	return from, min(to, end)
}

// forget drops the pages of a range that is copied.
func (p *pushed) forget(i int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.written, i)
}

// stop makes write reject all bytes: a write would change the modification time of the file.
func (p *pushed) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}
