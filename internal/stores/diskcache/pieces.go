package diskcache

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/small/lru"
)

// maxOpen is the number of files of pieces that stay open for the next read, if an eighth of the descriptors suffices.
// They have 4 GiB.
const maxOpen = 2048

// openFiles returns how many files stay open.
func openFiles() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1
	}
	return int64(min(maxOpen, limit.Cur/8))
}

// pieces reads pieces. It keeps the files of the last ones open.
type pieces struct {
	dir string

	mu   sync.Mutex
	open *lru.Cache[pieceID, *piece]
}

// piece is an open piece.
type piece struct {
	header
	file    *os.File
	raw     syscall.RawConn      // of file
	sums    atomic.Pointer[sums] // as last read. Pages may have been added since, but none removed
	touched atomic.Int64         // when the last use was written to the file, in Unix nanoseconds
}

func newPieces(dir string) *pieces {
	return &pieces{dir: dir, open: lru.New[pieceID, *piece](openFiles())}
}

// get returns an open piece. The error is fs.ErrNotExist if there is none.
func (c *pieces) get(h header) (*piece, error) {
	if p, ok := c.opened(h.id); ok {
		return p, nil
	}
	p, err := openPiece(c.dir, h)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, ok := c.open.Get(h.id); ok { // opened by another reader
		p.file.Close() // read-only: nothing can be lost
		return other, nil
	}
	for _, old := range c.open.Put(h.id, p, 1) {
		old.file.Close() // waits for no reads; readers in flight end first
	}
	return p, nil
}

// opened returns a piece that is open.
func (c *pieces) opened(id pieceID) (*piece, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open.Get(id)
}

// drop closes a piece, whose file is no longer right.
func (c *pieces) drop(p *piece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.open.Get(p.id); ok && now == p {
		c.open.Remove(p.id)
	}
	p.file.Close()
}

// close closes all pieces. They may be opened again.
func (c *pieces) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		p, ok := c.open.RemoveOldest()
		if !ok {
			return
		}
		p.file.Close()
	}
}

func openPiece(dir string, h header) (*piece, error) {
	f, err := os.OpenFile(filepath.Join(dir, h.id.path()), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	p := &piece{header: h, file: f}
	if p.raw, err = f.SyscallConn(); err != nil {
		f.Close()
		return nil, err
	}
	var first [pageSize]byte
	n, err := f.ReadAt(first[:], 0)
	switch {
	case err == io.EOF && n == 0:
		err = fs.ErrNotExist // created and not yet written
	case err == io.EOF || err == nil:
		if err = h.check(first[:n]); err == nil && n < pageSize {
			err = errDamaged
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	p.sums.Store(parseSums(first[sumsOffset:]))
	return p, nil
}

// errStale says that the file of a piece was removed after it was opened.
var errStale = errors.New("removed")

// reload reads the checksums again.
func (p *piece) reload() error {
	var b [4 * pagesInPiece]byte
	if _, err := p.file.ReadAt(b[:], sumsOffset); err != nil {
		return stale(err)
	}
	p.sums.Store(parseSums(b[:]))
	return nil
}

// stale returns errStale if err says that the file was cut or closed.
func stale(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		return errStale
	}
	return err
}

// hasAll reports whether all pages from page number from up to to are present.
func (s *sums) hasAll(from, to int64) bool { return !slices.Contains(s[from:to], 0) }

// hasAny reports whether one of the pages from page number from up to to is present.
func (s *sums) hasAny(from, to int64) bool {
	return slices.ContainsFunc(s[from:to], func(sum uint32) bool { return sum != 0 })
}

// read fills b from byte off of the object. b lies in the piece. It returns the pages that are missing, and how many
// pages are damaged, which are missing too. The error is errStale if the file was removed.
func (p *piece) read(b []byte, off int64) (missing []span, damaged int, err error) {
	end, start := off+int64(len(b)), p.id.n*pieceSize
	pages := pagesOf(off, end, p.size)
	first, last := (pages.from-start)/pageSize, (pages.to-start+pageSize-1)/pageSize
	expected := p.sums.Load()
	if !expected.hasAll(first, last) {
		if err := p.reload(); err != nil {
			return nil, 0, err
		}
		expected = p.sums.Load()
	}
	if !expected.hasAny(first, last) {
		return []span{pages}, 0, nil
	}
	visit := func(page span, content []byte) {
		sum := expected[(page.from-start)/pageSize]
		if sum != 0 && sum == sumOf(p.id.object, page.from/pageSize, content) {
			return
		}
		if sum != 0 {
			damaged++
		}
		missing = add(missing, page)
	}
	err = p.readPages(b, off, pages, visit) // sets missing and damaged, before they are returned
	return missing, damaged, err
}

// borders holds memory for the first and the last page of a read. A read may need only a part of these.
var borders = sync.Pool{New: func() any { return new([2][pageSize]byte) }}

// readPages reads pages with one request, calls visit with each of them in their order, and copies to b what b needs.
// Whole pages are read into b.
func (p *piece) readPages(b []byte, off int64, pages span, visit func(page span, content []byte)) error {
	border := borders.Get().(*[2][pageSize]byte)
	defer borders.Put(border)
	whole := span{off, off + int64(len(b))}
	var head, tail []byte // pages of which b needs a part
	if pages.from < off {
		head = border[0][:min(pageSize, pages.to-pages.from)]
		whole.from = pages.from + int64(len(head))
	}
	if whole.to < pages.to {
		whole.to -= whole.to % pageSize
	}
	var middle []byte
	if whole.from < whole.to {
		middle = b[whole.from-off : whole.to-off]
	}
	if at := max(whole.from, whole.to); at < pages.to {
		tail = border[1][:pages.to-at]
	}
	if err := p.readAt([][]byte{head, middle, tail}, pages.from); err != nil {
		return err
	}
	at := pages.from
	for _, part := range [][]byte{head, middle, tail} {
		for len(part) > 0 {
			content := part[:min(pageSize, len(part))]
			page := span{at, at + int64(len(content))}
			visit(page, content)
			part, at = part[len(content):], page.to
		}
	}
	end := off + int64(len(b))
	if len(head) > 0 {
		copy(b, head[off-pages.from:])
	}
	if len(tail) > 0 {
		from := pages.to - int64(len(tail))
		copy(b[from-off:], tail[:end-from])
	}
	return nil
}

// readAt fills the parts from byte off of the object. What is after the end of the file becomes zeros: these pages are
// absent, or their checksums are wrong.
func (p *piece) readAt(parts [][]byte, off int64) error {
	var err error
	n := 0
	if controlErr := p.raw.Control(func(fd uintptr) {
		for {
			n, err = preadv(int(fd), parts, dataOffset+off-p.id.n*pieceSize)
			if err != unix.EINTR {
				return
			}
		}
	}); controlErr != nil {
		return errStale // closed
	}
	if err != nil {
		return &fs.PathError{Op: "preadv", Path: p.file.Name(), Err: err}
	}
	short := false
	for _, part := range parts {
		m := min(n, len(part))
		clear(part[m:])
		short = short || m < len(part)
		n -= m
	}
	if !short {
		return nil
	}
	var first [1]byte
	_, err = p.file.ReadAt(first[:], 0) // the file has no first byte if it was removed
	return stale(err)
}

// touchEvery is how often the use of a piece is written to its file.
const touchEvery = time.Minute

// touch reports whether the use of the piece should be written now.
func (p *piece) touch(now time.Time, every time.Duration) bool {
	last := p.touched.Load()
	return now.UnixNano()-last >= int64(every) && p.touched.CompareAndSwap(last, now.UnixNano())
}
