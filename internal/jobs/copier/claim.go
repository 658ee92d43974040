package copier

import (
	"errors"
	"slices"
)

// claim returns the next range to copy. If there is none, but there may be more files, it returns no file and more: the
// caller then has to call openNext. If more is false, there is nothing left to do. claim waits while the next range is
// beyond the window, and while other goroutines open the last files.
//
// limit is 0 for a job. For a helper, claim also waits until the ranges of all helpers have at most limit bytes.
func (c *copier) claim(limit int64) (f *file, i int64, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case len(c.ready) > 0 && c.mayClaim(c.ready[0], limit):
			f = c.ready[0]
			i = f.claim()
			if limit > 0 {
				c.helperBytes += f.rangeOf(i).Len()
			}
			if f.next == f.ranges {
				c.ready = c.ready[1:]
			}
			return f, i, true
		case len(c.ready) == 0 && !c.exhausted:
			c.opening++
			return nil, 0, true
		case len(c.ready) == 0 && c.opening == 0:
			return nil, 0, false
		}
		c.changed.Wait()
	}
}

// mayClaim reports whether the next range of a file is in the window and within the limit.
func (c *copier) mayClaim(f *file, limit int64) bool {
	if f.next-f.done >= int64(2*c.Jobs) {
		return false
	}
	n := f.rangeOf(f.next).Len()
	return limit == 0 || c.helperBytes == 0 || c.helperBytes+n <= limit
}

// finishRange records the result of copying a range. After the last range in flight, it finishes the file.
func (c *copier) finishRange(f *file, i int64, err error) {
	if err == nil {
		c.Stats.CopiedBytes.Add(f.rangeOf(i).Len())
		err = c.markDone(f, i)
	}
	if c.release(f, err) {
		c.finishFile(f)
	}
}

// markDone records that range i is written. After each c.checkpoint bytes, it writes the journal.
func (c *copier) markDone(f *file, i int64) error {
	c.mu.Lock()
	f.markDone(i)
	due, done := f.startCheckpoint(c.checkpoint), f.done
	c.mu.Unlock()
	if !due {
		return nil
	}
	return f.save(done)
}

// release ends the work on a range and reports whether the file has no more ranges to copy. After an error, no more
// ranges of the file are claimed.
func (c *copier) release(f *file, err error) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.inFlight--
	c.changed.Broadcast()
	if err != nil && f.err == nil {
		f.err = err
		c.ready = slices.DeleteFunc(c.ready, func(other *file) bool { return other == f })
	}
	last = f.inFlight == 0 && (f.err != nil || f.next == f.ranges)
	if last {
		delete(c.openFiles, f)
	}
	return last
}

// finishFile closes a file without ranges in flight. If it has an error, its part stays for a later copy.
func (c *copier) finishFile(f *file) {
	err := f.err
	if err == nil {
		err = f.finish()
	}
	if err == nil {
		c.Stats.CopiedFiles.Add(1)
		return
	}
	f.suspend()
	c.fail(f.name, err)
}

// fail handles the error of a file. An error of the destination cancels the copy. Once the copy is canceled, errors of
// files are not reported: most of them follow from that.
func (c *copier) fail(name string, err error) {
	var fatal destinationError
	switch {
	case errors.As(err, &fatal):
		c.cancel(err)
	case c.ctx.Err() != nil:
	default:
		c.Stats.FailedFiles.Add(1)
		c.Failed(name, err)
	}
}

// suspendAll closes the files that are open after the copy was canceled.
func (c *copier) suspendAll() {
	for f := range c.openFiles {
		f.suspend()
	}
}
