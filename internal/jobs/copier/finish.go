package copier

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// finish gives a complete part its attributes and its name.
func (f *file) finish() error {
	f.pushed.stop()
	err := f.flush()
	if err == nil {
		err = f.dst.Chmod(f.part, f.info.Mode().Perm())
	}
	if unsupported(err) {
		err = nil
	}
	if err == nil {
		err = f.dst.Chtimes(f.part, f.info.ModTime(), f.info.ModTime())
	}
	if err == nil && f.staged {
		err = f.checkPart()
	}
	if err == nil {
		err = f.dst.Rename(f.part, f.target)
	}
	if errors.Is(err, fs.ErrNotExist) && f.isComplete() {
		err = nil
	}
	if err != nil {
		return destination(err)
	}
	if f.journal != nil {
		_ = f.dst.Remove(f.journalName()) // without a part, it is harmless
	}
	f.close()
	return nil
}

// checkPart returns an error that is [fs.ErrNotExist] if the part is not the file that was written. Another process may
// have completed the copy and removed the part, and a third one may write another file of this name.
func (f *file) checkPart() error {
	there, err := f.dst.Lstat(f.part)
	if err != nil {
		return err
	}
	written, err := f.out.Stat()
	if err == nil && !os.SameFile(there, written) {
		err = &fs.PathError{Op: "rename", Path: f.part, Err: fs.ErrNotExist}
	}
	return err
}

// isComplete reports whether another process has given the target the same content.
func (f *file) isComplete() bool {
	there, err := f.dst.Lstat(f.target)
	return err == nil && there.Mode().IsRegular() && there.Size() == f.info.Size() &&
		sameTime(there.ModTime(), f.info.ModTime())
}

// flush returns the errors of writes that the file system has delayed.
func (f *file) flush() error {
	hasHoles := f.hasHoles.Load()
	if f.ranges == 1 && hasHoles {
		if err := f.out.Truncate(f.info.Size()); err != nil {
			return err
		}
	}
	// A file of one range without holes grows while its bytes are written to disk. After a power failure it is too
	// short, so it is copied again. All other files have their size from the start: their bytes must be on disk before
	// they get their names.
	if f.ranges > 1 || hasHoles {
		return f.out.Sync()
	}
	// Network file systems report at close that they are full. A duplicate is closed, because the lock ends when the
	// file itself is closed.
	fd, err := syscall.Dup(int(f.out.Fd()))
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

// unsupported reports whether err is the error of a file system without permissions.
func unsupported(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTSUP)
}

// save syncs the part and then records in the journal that ranges 0 to done-1 are written.
func (f *file) save(done int64) error {
	if err := f.out.Sync(); err != nil {
		return destination(err)
	}
	r := f.record()
	r.Done = done
	return f.journal.write(r)
}

// suspend closes a file that is not complete. It removes the part, unless a later copy can resume it.
func (f *file) suspend() {
	defer f.close()
	if f.journal != nil && f.done > 0 {
		_ = f.save(f.done) // if it fails, the last entry of the journal is still correct
		return
	}
	_ = f.dst.Remove(f.part)
	if f.journal != nil {
		_ = f.dst.Remove(f.journalName())
	}
}

// close closes all files. Their errors do not matter: the bytes were flushed, or a later copy writes them again.
func (f *file) close() {
	f.in.Close()
	if f.out != nil {
		f.out.Close()
	}
	if f.journal != nil {
		f.journal.file.Close()
	}
}
