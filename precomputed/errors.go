package precomputed

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrNotRecognised says that a directory or file is nothing that Precomputed knows.
var ErrNotRecognised = errors.New("not a Neuroglancer Precomputed volume")

// FormatError says where and how a chunk or a shard breaks the format.
type FormatError struct {
	File     string // as it was opened
	What     string // the chunk or the part of a shard at fault
	Offset   int64  // in bytes from the file's begin
	Expected string
	Found    string
	Err      error // what the decoder says, if it is at the bottom of it; else nil
}

// Error names the file, the chunk or part, the byte offset, and both values.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %s at byte %d: expected %s, found %s", e.File, e.What, e.Offset, e.Expected, e.Found)
}

// Unwrap returns the error of the decoder.
func (e *FormatError) Unwrap() error { return e.Err }

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}
