package copier

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// copying is one call of Copy.
type copying struct {
	Options
	src  fs.FS
	dst  *os.Root
	ctx  context.Context
	stop context.CancelCauseFunc

	group sync.WaitGroup // of all goroutines

	pull sync.Mutex // held around next
	next func() (item, bool)

	mu      sync.Mutex
	moved   *sync.Cond     // of mu: a range was given back, or a file opened
	begun   map[*file]bool // every file that is open
	ready   []*file        // those with ranges that nobody has taken, in the order of the walk
	opening int            // files that are being opened
	drained bool           // there are no more files to be opened
	helpers int            // goroutines beyond the jobs
	lent    int64          // bytes of the ranges that they have taken
}

// work copies ranges of the files that are open and, when there are none left, opens
// the next file. So the ranges in flight are of one file while it lasts, and small
// files are opened, read and finished by as many goroutines as there are.
func (c *copying) work() {
	buf := make([]byte, c.rangeSize)
	for c.ctx.Err() == nil {
		f, i, more := c.take(0)
		if more {
			c.getHelp()
		}
		switch {
		case f != nil:
			c.put(f, i, f.copyRange(c.ctx, buf, i))
		case more:
			c.beginNext()
		default:
			return
		}
	}
}

// help works beside the jobs, as long as the source answers late. There is a buffer for just the range that is taken,
// because there are many helpers, and mostly small files.
func (c *copying) help() {
	defer c.leave()
	for c.ctx.Err() == nil && c.Late() {
		f, i, more := c.take(c.helpersSize)
		if more {
			c.getHelp()
		}
		switch {
		case f != nil:
			n := f.rangeEnd(i) - f.rangeBegin(i)
			c.put(f, i, f.copyRange(c.ctx, make([]byte, n), i))
			c.giveBack(n)
		case more:
			c.beginNext()
		default:
			return
		}
	}
}

// getHelp starts a helper if the source answers late, and there may be more.
func (c *copying) getHelp() {
	if !c.Late() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Jobs+c.helpers < c.Depth {
		c.helpers++
		c.group.Go(c.help)
	}
}

func (c *copying) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.helpers--
}

// giveBack lets helpers take further ranges of n bytes.
func (c *copying) giveBack(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lent -= n
	c.moved.Broadcast()
}

// beginNext opens the next file, after take has counted that it is being done.
func (c *copying) beginNext() {
	c.pull.Lock()
	next, ok := c.next()
	c.pull.Unlock()
	if ok {
		c.begin(next)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opening--
	c.drained = c.drained || !ok
	c.moved.Broadcast()
}

// begin opens a file and offers its ranges to all jobs.
func (c *copying) begin(i item) {
	f, err := c.open(i)
	switch {
	case err != nil:
		c.failed(i.name, err)
		return
	case f == nil: // it was there already
		return
	case f.next == f.ranges:
		c.end(f)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun[f] = true
	at, _ := slices.BinarySearchFunc(c.ready, f.seq, func(f *file, seq int) int { return f.seq - seq })
	c.ready = slices.Insert(c.ready, at, f)
}

// take returns the next range to be copied; no file, but more, if every open file is
// given out and another one is to be opened. It waits where one range takes so long
// that the others would run away from it, and where others are opening the last files.
// A helper's range is lent, and waits until no more than limit bytes are; 0 is a job, which has a buffer.
func (c *copying) take(limit int64) (f *file, i int64, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case len(c.ready) > 0 && c.mayTake(c.ready[0], limit):
			f, i = c.ready[0].give()
			if limit > 0 {
				c.lent += f.rangeEnd(i) - f.rangeBegin(i)
			}
			if f.next == f.ranges {
				c.ready = c.ready[1:]
			}
			return f, i, true
		case len(c.ready) == 0 && !c.drained:
			c.opening++
			return nil, 0, true
		case len(c.ready) == 0 && c.opening == 0:
			return nil, 0, false
		}
		c.moved.Wait()
	}
}

// mayTake reports whether the next range of a file may be taken now.
func (c *copying) mayTake(f *file, limit int64) bool {
	if f.next-f.done >= int64(2*c.Jobs) {
		return false
	}
	n := f.rangeEnd(f.next) - f.rangeBegin(f.next)
	return limit == 0 || c.lent == 0 || c.lent+n <= limit
}

// put gives a range back, copied or failed. Who puts the last one ends the file.
func (c *copying) put(f *file, i int64, err error) {
	if err == nil {
		c.Stats.CopiedBytes.Add(f.rangeEnd(i) - f.rangeBegin(i))
		err = c.complete(f, i)
	}
	if c.release(f, err) {
		c.end(f)
	}
}

// complete notes that range i is written, now and then in the journal.
func (c *copying) complete(f *file, i int64) error {
	c.mu.Lock()
	f.complete(i)
	due, done := f.due(c.checkpoint), f.done
	c.mu.Unlock()
	if !due {
		return nil
	}
	return f.save(done)
}

// release ends the work on a range, and reports whether it was the last of the file:
// after an error, no more are begun.
func (c *copying) release(f *file, err error) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.busy--
	c.moved.Broadcast()
	if err != nil && f.err == nil {
		f.err = err
		c.ready = slices.DeleteFunc(c.ready, func(other *file) bool { return other == f })
	}
	last = f.busy == 0 && (f.err != nil || f.next == f.ranges)
	if last {
		delete(c.begun, f)
	}
	return last
}

// end closes a file nobody works on any more: it is whole, or stays for a later run.
func (c *copying) end(f *file) {
	err := f.err
	if err == nil {
		err = f.finish()
	}
	if err == nil {
		c.Stats.CopiedFiles.Add(1)
		return
	}
	f.suspend()
	c.failed(f.name, err)
}

// failed sorts errors: those of one file, those that end it all, and those that only
// say that it has ended.
func (c *copying) failed(name string, err error) {
	var fatal destinationError
	switch {
	case errors.As(err, &fatal):
		c.stop(err)
	case c.ctx.Err() != nil:
	default:
		c.Stats.FailedFiles.Add(1)
		c.Failed(name, err)
	}
}

// suspendAll closes what is still open when the copy has ended early.
func (c *copying) suspendAll() {
	for f := range c.begun {
		f.suspend()
	}
}
