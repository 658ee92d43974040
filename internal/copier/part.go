package copier

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// open opens a file and its part, as far as they go on together; nil if the target is
// the same as the source already.
func (c *copying) open(i item) (*file, error) {
	if i.err != nil {
		return nil, i.err
	}
	info, err := i.stat()
	if err != nil {
		return nil, err
	}
	if same, err := c.compare(i.target, info); same || err != nil {
		if same {
			c.Stats.KeptFiles.Add(1)
			c.Stats.KeptBytes.Add(info.Size())
		}
		return nil, err
	}
	in, err := c.src.Open(i.name)
	if err != nil {
		return nil, err
	}
	f := &file{item: i, dst: c.dst, in: in, side: c.rangeSize, early: map[int64]bool{}}
	if err := c.openPart(f); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// compare reports whether what is at the target is the source already. Something else
// there is an error, if it may not be replaced.
func (c *copying) compare(target string, info fs.FileInfo) (same bool, err error) {
	there, err := c.dst.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, destination(err)
	case !there.Mode().IsRegular() && there.Mode().Type() != fs.ModeSymlink:
		return false, fmt.Errorf("%s is in the way: it is not a regular file", c.path(target))
	case c.Force:
		return false, nil
	case there.Mode().IsRegular() && there.Size() == info.Size() && sameTime(there.ModTime(), info.ModTime()):
		return true, nil
	}
	return false, fmt.Errorf("%w: %s", ErrExists, c.path(target))
}

// ErrExists says that the target is there, and differs from the source in size or time.
var ErrExists = errors.New("another file is there already")

func (c *copying) path(target string) string { return path.Join(c.dst.Name(), target) }

// sameTime compares with the precision of the file system that stored a time: 1 ns,
// 100 ns, or 1 s.
func sameTime(stored, t time.Time) bool {
	return stored.Equal(t) || stored.Equal(t.Truncate(100)) || stored.Equal(t.Truncate(time.Second))
}

// openPart opens the part, and goes on with it if it is of the same source.
func (c *copying) openPart(f *file) (err error) {
	if f.info, err = f.in.Stat(); err != nil { // not what the name had before it was opened
		return err
	}
	f.ranges = (f.info.Size() + f.side - 1) / f.side
	if err := c.dst.MkdirAll(path.Dir(f.target), 0o777); err != nil {
		return destination(err)
	}
	if f.out, err = lockedPart(c.dst, f.target+partSuffix); err != nil {
		return err
	}
	if f.ranges == 1 {
		return destination(f.out.Truncate(0))
	}
	f.offered.accept(f)
	return c.resume(f)
}

// resume goes on with the part of a file of several ranges, or starts over.
func (c *copying) resume(f *file) (err error) {
	if f.journal, err = openJournal(c.dst, f.target+journalSuffix); err != nil {
		return err
	}
	was, resumable := f.journal.resumes(f.record(), f.out)
	if resumable {
		f.next, f.done, f.saved = was.Done, was.Done, was.Done
		c.Stats.KeptBytes.Add(min(was.Done*f.side, f.info.Size()))
		return nil
	}
	if was.Done > 0 {
		c.Note(f.name, "the source has changed: starting over")
	}
	if err := f.journal.write(f.record()); err != nil {
		return err
	}
	if err := f.out.Truncate(0); err != nil { // what an earlier copy left
		return destination(err)
	}
	return destination(f.out.Truncate(f.info.Size()))
}

// lockedPart opens a part that no other process writes.
func lockedPart(dst *os.Root, name string) (*os.File, error) {
	// Not with the permissions of the source: they would not let it be opened again.
	f, err := dst.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, destination(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK { // others: no locks there
		f.Close()
		return nil, fmt.Errorf("%s: another copy is writing it", f.Name())
	}
	// The other copy may have finished in between: then this is its whole file.
	mine, err := f.Stat()
	if err == nil {
		named, e := dst.Lstat(name)
		if err = e; err == nil && !os.SameFile(mine, named) {
			err = fmt.Errorf("%s: somebody else has replaced it", f.Name())
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
