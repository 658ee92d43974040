package copier

import (
	"errors"
	"io/fs"
	"syscall"
)

// finish gives a whole part its name.
func (f *file) finish() error {
	f.offered.end()
	part := f.target + partSuffix
	err := f.flush()
	if err == nil {
		err = f.dst.Chmod(part, f.info.Mode().Perm())
	}
	if unsupported(err) {
		err = nil
	}
	if err == nil {
		err = f.dst.Chtimes(part, f.info.ModTime(), f.info.ModTime())
	}
	if err == nil {
		err = f.dst.Rename(part, f.target)
	}
	if err != nil {
		return destination(err)
	}
	if f.journal != nil {
		_ = f.dst.Remove(f.target + journalSuffix) // if it stays, it matches no part
	}
	f.close()
	return nil
}

// flush has the file system take what was written, and say if it cannot.
func (f *file) flush() error {
	holes := f.holes.Load()
	if f.ranges == 1 && holes {
		if err := f.out.Truncate(f.info.Size()); err != nil {
			return err
		}
	}
	// A file of one range without holes grows as it gets to the disk: after a power cut
	// it is too short, and copied again. Any other has its size early, and must have its
	// bytes before its name.
	if f.ranges > 1 || holes {
		return f.out.Sync()
	}
	// Network file systems tell at close that they are full. The file itself stays open:
	// with it ends the lock.
	fd, err := syscall.Dup(int(f.out.Fd()))
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

// unsupported reports whether the file system has no permissions to be set.
func unsupported(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTSUP)
}

// save puts into the journal that the first done ranges are written.
func (f *file) save(done int64) error {
	if err := f.out.Sync(); err != nil {
		return destination(err)
	}
	r := f.record()
	r.Done = done
	return f.journal.write(r)
}

// suspend closes a file that is not whole. Its part stays if a later copy can go on
// with it.
func (f *file) suspend() {
	defer f.close()
	if f.journal != nil && f.done > 0 {
		// If it fails, the journal says less than is there.
		_ = f.save(f.done)
		return
	}
	_ = f.dst.Remove(f.target + partSuffix)
	if f.journal != nil {
		_ = f.dst.Remove(f.target + journalSuffix)
	}
}

// close closes all that is open. Nothing is lost in it: what was written is flushed or
// will be written again.
func (f *file) close() {
	f.in.Close()
	if f.out != nil {
		f.out.Close()
	}
	if f.journal != nil {
		f.journal.f.Close()
	}
}
