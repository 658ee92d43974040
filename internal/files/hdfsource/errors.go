package hdfsource

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// located makes an error of package hdf5 one of package volume, which says where in the file. All others get the name
// of the file.
func (s *source) located(err error) error {
	var userBlock int64
	if f := s.current.Load(); f != nil {
		userBlock = f.UserBlock()
	}
	return locatedIn(s.name, userBlock, err)
}

// locatedIn is located for a file whose addresses count from the end of a user block.
func locatedIn(name string, userBlock int64, err error) error {
	if errors.As(err, new(brief)) { // it was located before
		return err
	}
	var format *hdf5.FormatError
	var unsupported *hdf5.NotSupportedError
	switch {
	case errors.As(err, &format):
		text := fmt.Sprintf("expected %v, found %v", format.Expected, format.Found)
		if format.Err != nil {
			text = format.Err.Error()
		}
		offset := int64(-1)
		if format.Address < 1<<62 {
			offset = userBlock + int64(format.Address)
		}
		return &volume.FormatError{File: name, Part: partOf(format.Path, format.Field), Offset: offset,
			Err: brief{err, text}}
	case errors.As(err, &unsupported):
		return &volume.UnsupportedError{File: name, Part: partOf(unsupported.Path, ""), Offset: -1,
			Err: brief{err, unsupported.What}}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// partOf names a part of a file: an object, and a field of it.
func partOf(path, field string) string {
	part := "HDF5"
	if path != "" {
		part += fmt.Sprintf(" object %q", path)
		if field != "" {
			part += ","
		}
	}
	return strings.TrimSuffix(part+" "+field, " ")
}

// brief is an error with a text that does not repeat what stands before it.
type brief struct {
	error
	text string
}

func (b brief) Error() string { return b.text }
func (b brief) Unwrap() error { return b.error }

// without returns the text of an error without the name of a file at its start.
func without(name string, err error) string { return strings.TrimPrefix(err.Error(), name+": ") }

// isDamage reports whether an error is about what exists and cannot be read.
func isDamage(err error) bool {
	var unsupported *hdf5.NotSupportedError
	return !errors.As(err, &unsupported)
}
