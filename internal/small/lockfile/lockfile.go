// Package lockfile keeps processes apart that write the same files. A [Lock] is a file that exists while a process
// holds it, with the kernel's lock on it (flock). The kernel gives up its lock when the process ends, however it ends.
// The file of a process that was killed stays, and the next process takes it.
//
// # File systems without locks
//
// Where the kernel refuses to lock, or locks on this machine only what is on a server, the file itself is the lock:
// creating it is atomic on all file systems. Nobody can tell there whether the process that created it still runs. So
// Take fails, and its error asks the user to remove the file. Shared locks do not exclude later exclusive ones there.
package lockfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrBusy is the error of a lock that another process holds.
var ErrBusy = errors.New("another process is writing here")

// errUnlockable is the ErrBusy of a file system without locks.
var errUnlockable = fmt.Errorf(
	"%w, or was killed, and the file system has no locks: remove the file if no other process writes here", ErrBusy)

// Options says how Take takes a lock.
type Options struct {
	Shared bool          // any number of processes hold the lock at a time, if all of them share it
	Wait   time.Duration // how long to wait for other processes at most
	Waits  func()        // called once if Take has to wait longer than a moment; may be nil

	flock  func(f *os.File, how int) error // for tests: the kernel's lock; nil: flock
	moment time.Duration                   // 0: usualMoment
}

// Lock is a lock that this process holds.
type Lock struct {
	path   string
	file   *os.File // nil: shared, and the file system has no locks
	shared bool
	orphan bool
	flock  func(f *os.File, how int) error
}

// usualMoment is how long Take waits in any case: another process may just be giving up the lock.
const usualMoment = time.Second

// maxMoments is how many moments Take waits at most on a file system without locks: the process that has the lock may
// have been killed.
const maxMoments = 30

// Take takes the lock at path, in an existing directory. If other processes hold it until the time to wait is over, the
// error is ErrBusy.
func Take(ctx context.Context, path string, o Options) (*Lock, error) {
	start, moment := time.Now(), cmp.Or(o.moment, usualMoment)
	for {
		l, err := o.try(path)
		waited := time.Since(start)
		wait := max(o.Wait, moment)
		if errors.Is(err, errUnlockable) {
			wait = min(wait, maxMoments*moment)
		}
		if err == nil || !errors.Is(err, ErrBusy) || waited > wait {
			return l, err
		}
		if o.Waits != nil && waited > moment {
			o.Waits()
			o.Waits = nil
		}
		select {
		case <-time.After(time.Duration(1+rand.IntN(20)) * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Orphaned reports whether the file existed before: the process that held the lock has not given it up, but was killed.
func (l *Lock) Orphaned() bool { return l.orphan }

// Release gives up the lock. It removes the file, unless other processes share the lock.
func (l *Lock) Release() {
	if l.file == nil {
		return
	}
	defer l.file.Close() // nothing was written
	if l.shared && l.flock(l.file, syscall.LOCK_EX) != nil {
		return
	}
	if isNamed(l.file, l.path) {
		_ = os.Remove(l.path) // else the next process takes it
	}
}

// try takes the lock if it is free.
func (o Options) try(path string) (*Lock, error) {
	l := &Lock{path: path, shared: o.Shared, flock: o.flock}
	if l.flock == nil {
		l.flock = flock
	}
	created, err := l.open()
	if err != nil {
		return nil, err
	}
	l.orphan = !created
	how := syscall.LOCK_EX
	if l.shared {
		how = syscall.LOCK_SH
	}
	err = l.flock(l.file, how)
	if err == nil && !isNamed(l.file, path) { // another process has held the lock until now, and has removed the file
		err = ErrBusy
	}
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, ErrBusy):
		l.file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l.withoutLocks(created)
}

// withoutLocks takes the lock where the kernel has none. created says that this process has created the file.
func (l *Lock) withoutLocks(created bool) (*Lock, error) {
	if !created {
		l.file.Close()
		return nil, fmt.Errorf("%s: %w", l.path, errUnlockable)
	}
	if l.shared {
		l.shared = false
		l.Release() // other processes need the file, too
		l.file = nil
	}
	return l, nil
}

// open opens the file, and reports whether it has created it.
func (l *Lock) open() (created bool, err error) {
	l.file, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		// All who may write in the directory may lock, whatever the umask is.
		if dir, err := os.Stat(filepath.Dir(l.path)); err == nil {
			_ = l.file.Chmod(dir.Mode().Perm() & 0o666)
		}
		return true, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	l.file, err = os.OpenFile(l.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		l.file, err = os.Open(l.path) // enough for a lock on a local disk
	}
	if errors.Is(err, fs.ErrNotExist) { // removed since
		err = fmt.Errorf("%s: %w", l.path, ErrBusy)
	}
	return false, err
}

// Flock takes the kernel's lock on an open file, which ends when the file is closed. It fails with ErrBusy if another
// process has it, and with another error if the file system has no locks.
func Flock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// flock takes the kernel's lock on a file, or changes it. It fails with ErrBusy if another process has it, and with
// another error if the file system has no locks.
func flock(f *os.File, how int) error {
	if isLocal, err := lockedLocally(f); isLocal || err != nil {
		return errors.Join(errors.ErrUnsupported, err)
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrBusy
		default:
			return err
		}
	}
}

// isNamed reports whether a file still has its name.
func isNamed(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false // on a file server, it was removed
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(ours, named)
}
