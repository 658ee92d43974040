package precomputed

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrNotRecognised says that a directory or file is nothing that Precomputed knows.
var ErrNotRecognised = errors.New("not a Neuroglancer Precomputed volume")

// FormatError says where and how a chunk or a shard breaks the format: with what was
// expected and found or, where it is a decoder that says so, with its error.
type FormatError struct {
	File     string // as it was opened
	What     string // the chunk or the part of a shard at fault
	Offset   int64  // in bytes from the file's begin
	Expected string
	Found    string
	Err      error
}

// Error names the file, the chunk or part, the byte offset, and what is wrong.
func (e *FormatError) Error() string {
	where := fmt.Sprintf("%s: %s at byte %d: ", e.File, e.What, e.Offset)
	if e.Err != nil {
		return where + e.Err.Error()
	}
	return where + fmt.Sprintf("expected %s, found %s", e.Expected, e.Found)
}

// Unwrap returns the error of the decoder, if any.
func (e *FormatError) Unwrap() error { return e.Err }

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}
