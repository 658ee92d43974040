package hdf5

import (
	"errors"
	"fmt"
	"io/fs"
)

// FormatError says that a file breaks the specification: it is damaged, or was not written as HDF5.
type FormatError struct {
	Path            string // of the object in the file; empty if there is none yet
	Address         uint64 // of the structure, counted from the superblock; an undefined one is all ones
	Field           string // the structure and its field
	Expected, Found any    // for people
	Err             error  // what a filter said; may be nil
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("HDF5 %s at address %d: ", e.Field, e.Address)
	if e.Path != "" {
		s = fmt.Sprintf("HDF5 object %q, %s at address %d: ", e.Path, e.Field, e.Address)
	}
	if e.Err != nil {
		return s + e.Err.Error()
	}
	return s + fmt.Sprintf("expected %v, found %v", e.Expected, e.Found)
}

// Unwrap returns what a filter said.
func (e *FormatError) Unwrap() error { return e.Err }

// NotSupportedError says that a file may be right, but needs what this package does not do.
type NotSupportedError struct {
	Path string // of the object in the file; empty if the whole file is meant
	What string // what it needs
}

func (e *NotSupportedError) Error() string {
	if e.Path == "" {
		return "HDF5: " + e.What + " is not supported"
	}
	return fmt.Sprintf("HDF5 object %q: %s is not supported", e.Path, e.What)
}

// NotFoundError says that a path has no object. errors.Is(err, fs.ErrNotExist) is true.
type NotFoundError struct {
	Path string // what was looked up
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("HDF5: there is no object %q", e.Path) }

// Is implements errors.Is for fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// named returns err with the path of the object that it concerns, unless it has one.
func named(path string, err error) error {
	var format *FormatError
	if errors.As(err, &format) {
		if format.Path == "" {
			with := *format
			with.Path = path
			return &with
		}
		return err
	}
	var unsupported *NotSupportedError
	if errors.As(err, &unsupported) && unsupported.Path == "" {
		with := *unsupported
		with.Path = path
		return &with
	}
	return err
}

func notSupported(format string, args ...any) error {
	return &NotSupportedError{What: fmt.Sprintf(format, args...)}
}

// isFormat reports whether an error is about the bytes of the file, and not about reading them.
func isFormat(err error) bool {
	var format *FormatError
	return errors.As(err, &format)
}
