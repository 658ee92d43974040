//go:build linux

package fsnode

import (
	"errors"
	"log/slog"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/log"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// reporter turns errors into error numbers. It passes each error to the observer and logs those that show a
// fault.
type reporter struct {
	faults   *log.Faults
	observer Observer
}

func newReporter(to *slog.Logger, o Observer) *reporter {
	return &reporter{log.NewFaults(to), o}
}

// errno reports the error of an operation on a path and returns its number.
func (r *reporter) errno(op, path string, err error) syscall.Errno {
	r.observer.Failed(op, path, err)
	number := errnoOf(err)
	switch number {
	case syscall.ENOENT, syscall.EINTR, syscall.ENOTDIR, syscall.EACCES:
		return number // caused by the request, not by a fault
	}
	r.faults.Report(op, path, err)
	return number
}

// boundary recovers a panic of the function that defers it, the handler of a request. It is the error of the operation.
func (r *reporter) boundary(op, path string, number *syscall.Errno) {
	if p := recover(); p != nil {
		*number = r.errno(op, path, guard.Recovered("fsnode.request", p))
	}
}

// errnoOf returns the number of an error. An error that the request did not cause is EIO.
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
