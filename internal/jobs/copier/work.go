package copier

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/lockfile"
)

// copier is one call of Copy.
type copier struct {
	Options
	src    fs.FS
	dst    *os.Root
	ctx    context.Context
	cancel context.CancelCauseFunc

	staging string // directory of incomplete files in dst; empty: beside their targets

	group sync.WaitGroup // of all goroutines

	wholeMu sync.Mutex
	whole   *lockfile.Lock // of all that is written; nil: the file system locks files

	walkMu sync.Mutex // held while next is called
	next   func() (item, bool)

	mu          sync.Mutex
	changed     *sync.Cond     // of mu: a range was released, or a file was opened
	openFiles   map[*file]bool // that are not finished
	ready       []*file        // files with ranges that are not claimed, in the order of the walk
	opening     int            // number of files that are being opened
	exhausted   bool           // next has no more files
	helpers     int            // number of helpers
	helperBytes int64          // of the ranges that helpers have claimed
}

// runJob copies ranges of the open files. If all are claimed, it opens the next file. So the ranges in flight are of
// one large file, while small files are opened, read and finished by all jobs.
func (c *copier) runJob() {
	buf := make([]byte, c.rangeSize)
	for c.ctx.Err() == nil {
		f, i, more := c.claim(0)
		if more {
			c.startHelper()
		}
		switch {
		case f != nil:
			c.finishRange(f, i, f.copyRange(c.ctx, buf, i))
		case more:
			c.openNext()
		default:
			return
		}
	}
}

// runHelper works like a job while the source answers late. Its buffer is as large as the range it has claimed: there
// are many helpers, and most files are small.
func (c *copier) runHelper() {
	defer c.stopHelper()
	for c.ctx.Err() == nil && c.Late() {
		f, i, more := c.claim(c.helpersSize)
		if more {
			c.startHelper()
		}
		switch {
		case f != nil:
			n := f.rangeOf(i).Len()
			c.finishRange(f, i, f.copyRange(c.ctx, make([]byte, n), i))
			c.releaseHelperBytes(n)
		case more:
			c.openNext()
		default:
			return
		}
	}
}

// startHelper starts a helper if the source answers late and the number of goroutines is below Depth.
func (c *copier) startHelper() {
	if !c.Late() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Jobs+c.helpers < c.Depth {
		c.helpers++
		c.group.Go(c.runHelper)
	}
}

func (c *copier) stopHelper() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.helpers--
}

func (c *copier) releaseHelperBytes(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.helperBytes -= n
	c.changed.Broadcast()
}

// openNext opens the next file of the walk. claim has counted it in c.opening.
func (c *copier) openNext() {
	c.walkMu.Lock()
	next, ok := c.next()
	c.walkMu.Unlock()
	if ok {
		c.openItem(next)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening--
	c.exhausted = c.exhausted || !ok
	c.changed.Broadcast()
}

// openItem opens a file and makes its ranges ready.
func (c *copier) openItem(i item) {
	f, err := c.open(i)
	switch {
	case err != nil:
		c.fail(i.name, err)
		return
	case f == nil: // the target is kept
		return
	case f.next == f.ranges:
		c.finishFile(f)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openFiles[f] = true
	at, _ := slices.BinarySearchFunc(c.ready, f.index, func(f *file, index int) int { return f.index - index })
	c.ready = slices.Insert(c.ready, at, f)
}
