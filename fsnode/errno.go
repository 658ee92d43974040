package fsnode

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"syscall"

	"github.com/wkwfs/wkwfs/errlog"
	"github.com/wkwfs/wkwfs/vfs"
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

// errnoOf classifies an error. What is not the caller's doing is EIO.
func errnoOf(err error) syscall.Errno {
	var number syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, fs.ErrInvalid):
		return syscall.EINVAL
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return syscall.EINTR
	case errors.Is(err, vfs.ErrChanged):
		return syscall.EIO
	case errors.As(err, &number):
		switch number {
		case syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
			return number
		}
	}
	return syscall.EIO
}
