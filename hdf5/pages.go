package hdf5

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

const (
	pageBytes   = 64 << 10
	cachedBytes = 4 << 20 // of pages
	maxRead     = 64 << 20
)

// pages reads metadata. Structures of HDF5 are small and lie beside each other, so what is read in pages comes from
// a remote file in few requests.
type pages struct {
	r    io.ReaderAt
	size int64

	mu    sync.Mutex
	cache *lru.Cache[int64, []byte]
}

func newPages(r io.ReaderAt, size int64) *pages {
	return &pages{r: r, size: size, cache: lru.New[int64, []byte](cachedBytes)}
}

// read returns n bytes from an offset. The range is inside the file. The caller must not change them.
func (p *pages) read(off int64, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	first, last := off/pageBytes, (off+int64(n)-1)/pageBytes
	if first == last {
		page, err := p.page(first)
		if err != nil {
			return nil, err
		}
		start := int(off - first*pageBytes)
		return page[start : start+n : start+n], nil
	}
	b := make([]byte, n)
	if n > cachedBytes/4 { // these pages would displace all others
		return b, p.fill(b, off)
	}
	if err := p.load(first, last); err != nil {
		return nil, err
	}
	for done, i := 0, first; i <= last; i++ {
		page, err := p.page(i)
		if err != nil {
			return nil, err
		}
		done += copy(b[done:], page[off+int64(done)-i*pageBytes:])
	}
	return b, nil
}

// page returns a page. The last one of the file is short.
func (p *pages) page(i int64) ([]byte, error) {
	if page, ok := p.cached(i); ok {
		return page, nil
	}
	page := make([]byte, min(pageBytes, p.size-i*pageBytes))
	if err := p.fill(page, i*pageBytes); err != nil {
		return nil, err
	}
	p.keep(i, page)
	return page, nil
}

// load reads the pages from first to last in one request, if more than one of them is missing.
func (p *pages) load(first, last int64) error {
	for first <= last && p.has(first) {
		first++
	}
	for first <= last && p.has(last) {
		last--
	}
	if first >= last {
		return nil
	}
	b := make([]byte, min((last+1)*pageBytes, p.size)-first*pageBytes)
	if err := p.fill(b, first*pageBytes); err != nil {
		return err
	}
	for i := first; i <= last; i++ {
		n := min(pageBytes, len(b))
		p.keep(i, append([]byte(nil), b[:n]...))
		b = b[n:]
	}
	return nil
}

// cached returns a page that is in memory.
func (p *pages) cached(i int64) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cache.Get(i)
}

// has reports whether a page is in memory.
func (p *pages) has(i int64) bool {
	_, ok := p.cached(i)
	return ok
}

func (p *pages) keep(i int64, page []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.Put(i, page, int64(len(page)))
}

func (p *pages) fill(b []byte, off int64) error {
	n, err := p.r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("HDF5: %d bytes at offset %d: %w", len(b), off, err)
}
