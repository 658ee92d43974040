package fsnode

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"syscall"

	"github.com/wkwfs/wkwfs/vfs"
)

// reporter turns errors into error numbers, and writes those to the log that say
// that something is wrong: each once, however often it is met.
type reporter struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]struct{}
}

// maxSeen bounds how many different errors are remembered. After that many the
// memory starts anew, and an error may be logged a second time.
const maxSeen = 10_000

func newReporter(log *slog.Logger) *reporter {
	return &reporter{log: log, seen: map[string]struct{}{}}
}

// errno returns the number for an error of an operation on a path.
func (r *reporter) errno(op, path string, err error) syscall.Errno {
	number := errnoOf(err)
	switch number {
	case syscall.ENOENT, syscall.EINTR, syscall.ENOTDIR, syscall.EACCES:
		return number // what somebody asked for, not what is wrong
	}
	// The path above is left out, so that damage that shows in many entries is told
	// once: what is wrong is below.
	var outer *fs.PathError
	if errors.As(err, &outer) && outer.Path == path {
		err = outer.Err
	}
	if r.first(err.Error()) {
		r.log.Error("cannot "+op, "path", path, "err", err)
	}
	return number
}

// first reports whether the error is met for the first time.
func (r *reporter) first(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.seen[text]; ok {
		return false
	}
	if len(r.seen) >= maxSeen {
		clear(r.seen)
	}
	r.seen[text] = struct{}{}
	return true
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
