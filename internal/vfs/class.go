package vfs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Class is the meaning of an error. Servers derive an error number, an HTTP status or a counter from it.
type Class int

// The classes of errors, with the error numbers of the operating system that belong to them.
const (
	NotExist     Class = iota + 1 // the name does not exist (ENOENT)
	NotDirectory                  // an element of the path is no directory (ENOTDIR)
	NameTooLong                   // the name is too long (ENAMETOOLONG)
	Permission                    // the server has no permission (EACCES, EPERM)
	Invalid                       // the request is invalid: fs.ErrInvalid
	Interrupted                   // the context of the request is done
	Changed                       // the source has changed since it was opened: ErrChanged
	Exhausted                     // the server has too many files open or too little memory (EMFILE, ENFILE, ENOMEM)
	IO                            // the operating system cannot read the source (all other numbers)
	Damaged                       // the stored bytes violate their format or have an unknown version (all other errors)
	Panicked                      // a fault of the program: guard.Error
)

// Classify returns the class of an error, which must not be nil. If it wraps errors of several classes,
// Panicked, NotExist, Permission, Invalid, Interrupted and Changed have precedence, in this order.
func Classify(err error) Class {
	var number syscall.Errno
	switch {
	case guard.Is(err):
		return Panicked
	case errors.Is(err, fs.ErrNotExist):
		return NotExist
	case errors.Is(err, fs.ErrPermission):
		return Permission
	case errors.Is(err, fs.ErrInvalid):
		return Invalid
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Interrupted
	case errors.Is(err, ErrChanged):
		return Changed
	case !errors.As(err, &number):
		return Damaged
	}
	switch number {
	case syscall.ENOTDIR:
		return NotDirectory
	case syscall.ENAMETOOLONG:
		return NameTooLong
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return Exhausted
	}
	return IO
}
