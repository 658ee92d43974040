package relabel

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/ttl"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Table says what ids become. It may be used by many goroutines at once.
type Table struct {
	// Name is that of the file or group, for errors.
	Name string
	// Keep says that an id beyond a list stays. Else it becomes 0.
	Keep bool

	read  func(last *state) (*state, error) // returns last if nothing has changed
	files func() []fs.FileInfo              // that the table is made of

	latest atomic.Pointer[checked]
	taking sync.Mutex // held while the table is described; readers with a valid description do not need it
}

// state is a table as it was at one time.
type state struct {
	version vfs.Version
	most    uint64 // no id of the table is greater

	cursors sync.Pool // of cursors that nobody uses

	pairs map[uint64]uint64 // nil: it is a list

	n       uint64 // of the ids in a list
	pageLen uint64 // of the ids in a page
	pages   []atomic.Pointer[page]
	load    func(ctx context.Context, p uint64) ([]uint64, error) // returns a page; the last one may be longer
}

// maxPages limits the pages of a table: 8 bytes of memory each.
const maxPages = 1 << 24

// newList returns a list of n ids in pages.
func newList(version vfs.Version, most, n, pageLen uint64, load func(context.Context, uint64) ([]uint64,
	error)) (*state, error) {
	count := n/pageLen + 1
	if count > maxPages {
		return nil, fmt.Errorf("expected at most %d pages of a table, found %d ids in pages of %d", maxPages, n,
			pageLen)
	}
	return &state{version: version, most: most, n: n, pageLen: pageLen, pages: make([]atomic.Pointer[page], count),
		load: load}, nil
}

// checked is a description of a table, or the error, and when it was made.
type checked struct {
	state *state
	err   error
	ttl.Answer
}

func (c *checked) counts() bool { return c != nil && c.Counts() }

// now returns the table as it is now, or was a second ago.
func (t *Table) now() (*state, error) {
	if c := t.latest.Load(); c.counts() {
		return c.state, c.err
	}
	t.taking.Lock()
	defer t.taking.Unlock()
	last := t.latest.Load()
	if last.counts() { // another goroutine has described it
		return last.state, last.err
	}
	c := &checked{Answer: ttl.Ask()}
	var old *state
	if last != nil {
		old = last.state
	}
	if c.state, c.err = t.read(old); c.err != nil {
		c.state, c.err = nil, fmt.Errorf("mapping %s: %w", t.Name, c.err)
	}
	c.End()
	t.latest.Store(c)
	return c.state, c.err
}

// Check returns an error if the table cannot be read, as far as its metadata tell. A mapping that is JSON or text is
// read as a whole.
func (t *Table) Check() error {
	_, err := t.now()
	return err
}

// Most returns a number that no id of the table exceeds. Ids that a table does not have may stay: they are not
// counted.
func (t *Table) Most() (uint64, error) {
	s, err := t.now()
	if err != nil {
		return 0, err
	}
	return s.most, nil
}

// cursor looks ids up in a table. It is for one goroutine.
type cursor struct {
	*state
	table *Table
	ctx   context.Context
	first uint64 // id of the first entry of ids
	ids   []uint64
	memo  [memoLength]pair // ids that were found, by their slot; an empty entry is that of 0
	twos  [memoLength]pair // the same for words of two ids of 32 bits
}

// pair is an id and what it becomes.
type pair struct{ from, to uint64 }

// memoLength is so great that the ids of a few blocks seldom share a slot. Neighbouring rows have the same ids, so what
// is used of the memo stays in the first cache of a processor.
const memoLength = 1 << memoBits
const memoBits = 12

func slotOf(id uint64) uint64 { return id * 0x9e3779b97f4a7c15 >> (64 - memoBits) }

// cursor returns a cursor, which may know ids from an earlier use. Its release ends its use.
func (t *Table) cursor(ctx context.Context, s *state) *cursor {
	c, _ := s.cursors.Get().(*cursor)
	if c == nil {
		c = &cursor{state: s, table: t}
	}
	c.ctx = ctx
	return c
}

// release keeps the memo for another use. The pages of the table are not kept from being dropped.
func (c *cursor) release() {
	c.ctx, c.ids = nil, nil
	c.cursors.Put(c)
}

// find returns what an id becomes.
func (c *cursor) find(id uint64) (uint64, error) {
	if at := id - c.first; at < uint64(len(c.ids)) {
		return c.ids[at], nil
	}
	return c.findFar(id)
}

// findFar is find for an id that is not in the page of the last one.
func (c *cursor) findFar(id uint64) (uint64, error) {
	switch {
	case c.pairs != nil:
		if to, ok := c.pairs[id]; ok {
			return to, nil
		}
		return id, nil
	case id >= c.n && c.table.Keep:
		return id, nil
	case id >= c.n:
		return 0, nil
	}
	p := id / c.pageLen
	ids, err := c.page(c.ctx, p)
	if err != nil {
		return 0, fmt.Errorf("mapping %s: ids from %d: %w", c.table.Name, p*c.pageLen, err)
	}
	c.first, c.ids = p*c.pageLen, ids
	if at := id - c.first; at < uint64(len(ids)) {
		return ids[at], nil
	}
	return 0, fmt.Errorf("mapping %s: ids from %d: expected more than %d, found no others", c.table.Name, c.first,
		len(ids))
}

// checkZero fails if the background does not stay what it is.
func (c *cursor) checkZero() error {
	to, err := c.find(0)
	if err == nil && to != 0 {
		err = fmt.Errorf("mapping %s: expected id 0, the background, to stay 0, found %d", c.table.Name, to)
	}
	return err
}

// unknownMost is the greatest id of a table about which nothing is known.
const unknownMost = math.MaxUint64

// hashOf returns a version of several versions.
func hashOf(versions []byte) vfs.Version {
	sum := sha256.Sum256(versions)
	return vfs.Version(sum[:16])
}
