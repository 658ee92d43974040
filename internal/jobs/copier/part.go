package copier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/lockfile"
	"github.com/wkwfs/wkwfs/internal/small/span"
)

// open opens a file and its part. It returns nil if the target is the same as the source already, or the source is
// gone. If another process has just completed the target, open looks at that again. If another process of the same part
// of a copy is writing it on this machine, open waits until that has ended, and goes on where it was.
func (c *copier) open(i item) (*file, error) {
	replaced := 0
	for {
		f, err := c.tryOpen(i)
		if errors.Is(err, errReplaced) {
			replaced++
		}
		switch {
		case replaced > maxReplaced, !errors.Is(err, errBusy) && !errors.Is(err, errReplaced):
			return f, err
		case c.staging == "" && errors.Is(err, errBusy):
			return f, err
		}
		select {
		case <-time.After(busyPause):
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		}
	}
}

// busyPause is the time between two attempts to open a file that another process is writing.
const busyPause = 200 * time.Millisecond

// maxReplaced is how often other processes may complete a file, or the whole part of the copy, while it is opened.
// There are only as many as run the same part. If the whole destination was removed, it is an error.
const maxReplaced = 20

// Errors of a part that another process is writing, or has just completed.
var (
	errBusy     = errors.New("another copy is writing it")
	errReplaced = errors.New("another process has replaced it")
)

func (c *copier) tryOpen(i item) (*file, error) {
	_, keep, err := c.examine(i)
	if keep || err != nil {
		return nil, err
	}
	in, err := c.src.Open(i.name)
	if err != nil {
		return nil, err
	}
	f := &file{item: i, dst: c.dst, in: in, rangeSize: c.rangeSize, doneAhead: map[int64]bool{}}
	f.part, f.staged = join(cmp.Or(c.staging, "."), i.target)+partSuffix, c.staging != ""
	if err := c.openPart(f); err != nil {
		f.close()
		// another process has completed the part of the copy, and removes its directory
		if f.staged && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", errReplaced, err)
		}
		return nil, err
	}
	return f, nil
}

// examine describes a file of the source. It reports whether nothing is to be copied: the target is the same, which it
// counts, or the source is gone, and has no info. It fails if the target is something else that must not be replaced.
func (c *copier) examine(i item) (info fs.FileInfo, keep bool, err error) {
	if i.err != nil {
		return nil, false, i.err
	}
	info, err = i.stat()
	if i.planned && errors.Is(err, fs.ErrNotExist) { // it was removed since
		return nil, true, nil
	}
	if err != nil || c.dst == nil {
		return info, false, err
	}
	same, err := c.compare(i.target, info)
	if same {
		same, err = c.compareHeads(i)
	}
	if same {
		c.Stats.KeptFiles.Add(1)
		c.Stats.KeptBytes.Add(info.Size())
	}
	return info, same, err
}

// compare reports whether the target is the same as the source. It fails if the target is something else that must not
// be replaced.
func (c *copier) compare(target string, info fs.FileInfo) (same bool, err error) {
	existing, err := c.dst.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, destination(err)
	case !existing.Mode().IsRegular() && existing.Mode().Type() != fs.ModeSymlink:
		return false, fmt.Errorf("%s exists and is not a regular file", c.path(target))
	case c.Force:
		return false, nil
	case existing.Mode().IsRegular() && existing.Size() == info.Size() && sameTime(existing.ModTime(), info.ModTime()):
		return true, nil
	}
	return false, fmt.Errorf("%w: %s", ErrExists, c.path(target))
}

// headSize is the length of the heads of volumes, in bytes.
const headSize = 4096

// compareHeads reports whether a target that has the size and time of the source also has its header. Another --unit
// changes only the header, and so does another voxel size in the metadata. It fails if the headers differ.
func (c *copier) compareHeads(i item) (same bool, err error) {
	if _, ok := tree.MagOf(i.name); !ok || path.Ext(i.name) == tree.Raw || path.Ext(i.name) == "" {
		return true, nil // no header
	}
	source, err := readHead(c.src, i.name)
	if err != nil {
		return false, err
	}
	target, err := readHead(c.dst.FS(), i.target)
	if err != nil {
		return false, destination(err)
	}
	if !bytes.Equal(source, target) {
		return false, fmt.Errorf("%w: %s: its header differs", ErrExists, c.path(i.target))
	}
	return true, nil
}

// readHead reads the first bytes of a file.
func readHead(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, headSize))
}

// ErrExists is the error of a target that exists and differs from the source in size, time or header.
var ErrExists = errors.New("another file exists already")

func (c *copier) path(target string) string { return path.Join(c.dst.Name(), target) }

// sameTime reports whether the time in a file system is t, with the resolution of the file system: 1 ns, 100 ns or 1 s.
func sameTime(stored, t time.Time) bool {
	return stored.Equal(t) || stored.Equal(t.Truncate(100)) || stored.Equal(t.Truncate(time.Second))
}

// openPart opens the part of a file, and resumes it if it is of the same source.
func (c *copier) openPart(f *file) (err error) {
	if f.info, err = f.in.Stat(); err != nil { // of the open file: the name may be another file by now
		return err
	}
	f.ranges = span.New(0, f.info.Size()).Pieces(f.rangeSize)
	if err := c.dst.MkdirAll(path.Dir(f.target), 0o777); err != nil {
		return destination(err)
	}
	if f.staged {
		if err := c.dst.MkdirAll(path.Dir(f.part), 0o777); err != nil {
			return destination(err)
		}
	}
	if f.out, err = c.openLocked(f.part); err != nil {
		return err
	}
	if err := c.checkTarget(f); err != nil {
		return err
	}
	if f.ranges == 1 {
		return destination(f.out.Truncate(0))
	}
	f.pushed.start(f)
	return c.resume(f)
}

// checkTarget fails if another copy has completed the target until this one had locked the part. It removes the part,
// which is new then.
func (c *copier) checkTarget(f *file) error {
	if f.staged || c.Force {
		return nil
	}
	_, err := c.dst.Lstat(f.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return destination(err)
	}
	_ = c.dst.Remove(f.part)
	return fmt.Errorf("%s: %w", c.path(f.target), errReplaced)
}

// resume resumes the part of a file of several ranges, or starts over.
func (c *copier) resume(f *file) (err error) {
	if f.journal, err = openJournal(c.dst, f.journalName()); err != nil {
		return err
	}
	old, resumable := f.journal.load(f.record(), f.out)
	if resumable {
		f.next, f.done, f.saved = old.Done, old.Done, old.Done
		c.Stats.KeptBytes.Add(min(old.Done*f.rangeSize, f.info.Size()))
		return nil
	}
	if old.Done > 0 {
		c.Notice(f.name, "the source has changed: starting over")
	}
	if err := f.journal.write(f.record()); err != nil {
		return err
	}
	if err := f.out.Truncate(0); err != nil { // drop the bytes of the earlier copy
		return destination(err)
	}
	return destination(f.out.Truncate(f.info.Size()))
}

// openLocked opens a part and locks it. It fails if another process has the lock.
func (c *copier) openLocked(name string) (*os.File, error) {
	// With the permissions of the source, a later copy might not be able to open it.
	f, err := c.dst.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, destination(err)
	}
	err = lockfile.Flock(f)
	if errors.Is(err, lockfile.ErrBusy) {
		err = fmt.Errorf("%s: %w", f.Name(), errBusy)
	} else if err != nil {
		err = destination(c.lockAll())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	// If the other copy finished between open and lock, f is its complete file.
	locked, err := f.Stat()
	if err == nil {
		named, e := c.dst.Lstat(name)
		if err = e; errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(locked, named) {
			err = fmt.Errorf("%s: %w", f.Name(), errReplaced)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// wholeLock is the lock of all that a copy writes, on a file system that does not lock files.
const wholeLock = ".wkwfs-cp.lock"

// lockAll locks all that the copy writes, until the copy ends.
func (c *copier) lockAll() (err error) {
	c.wholeMu.Lock()
	defer c.wholeMu.Unlock()
	if c.whole == nil {
		c.whole, err = lockfile.Take(c.ctx, filepath.Join(c.dst.Name(), c.staging, wholeLock), lockfile.Options{})
	}
	return err
}

// unlockAll gives up the lock, if there is one.
func (c *copier) unlockAll() {
	if c.whole != nil {
		c.whole.Release()
	}
}
