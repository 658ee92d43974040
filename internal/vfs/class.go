package vfs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
)

// Class is what an error means to who asked: servers make an error number, an HTTP status or a counter of it.
type Class int

// The classes of errors. Those from the operating system have its numbers in brackets.
const (
	NotExist     Class = iota + 1 // there is nothing of the name (ENOENT)
	NotDirectory                  // what is above the name is no directory (ENOTDIR)
	NameTooLong                   // (ENAMETOOLONG)
	Permission                    // the server may not read it (EACCES, EPERM)
	Invalid                       // the request makes no sense: fs.ErrInvalid
	Interrupted                   // the context of the request is done
	Changed                       // the source is no longer what it was when it was opened
	Exhausted                     // the server has too many files open, or too little memory (EMFILE, ENFILE, ENOMEM)
	IO                            // the operating system cannot read the source (any other number)
	Damaged                       // what is stored breaks its format, or is of an unknown version: any other error
)

// Classify returns the class of an error, which must not be nil.
func Classify(err error) Class {
	var number syscall.Errno
	switch {
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
