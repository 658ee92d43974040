package fsnode

import (
	"errors"
	"log/slog"
	"syscall"

	"github.com/wkwfs/wkwfs/errlog"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// reporter turns errors into error numbers, tells the observer, and writes those to the
// log that say that something is wrong.
type reporter struct {
	log      *errlog.Log
	observer Observer
}

func newReporter(log *slog.Logger, o Observer) *reporter { return &reporter{errlog.New(log), o} }

// errno returns the number for an error of an operation on a path.
func (r *reporter) errno(op, path string, err error) syscall.Errno {
	r.observer.Failed(op, path, err)
	number := errnoOf(err)
	switch number {
	case syscall.ENOENT, syscall.EINTR, syscall.ENOTDIR, syscall.EACCES:
		return number // what somebody asked for, not what is wrong
	}
	r.log.Report(op, path, err)
	return number
}

// errnoOf returns the number for an error. What is not the caller's doing is EIO.
func errnoOf(err error) syscall.Errno {
	switch vfs.Classify(err) {
	case vfs.NotExist:
		return syscall.ENOENT
	case vfs.NotDirectory:
		return syscall.ENOTDIR
	case vfs.NameTooLong:
		return syscall.ENAMETOOLONG
	case vfs.Permission:
		return syscall.EACCES
	case vfs.Invalid:
		return syscall.EINVAL
	case vfs.Interrupted:
		return syscall.EINTR
	case vfs.Exhausted:
		var number syscall.Errno
		errors.As(err, &number)
		return number
	}
	return syscall.EIO
}
