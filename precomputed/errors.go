package precomputed

import (
	"errors"
	"io/fs"
)

// ErrNotRecognised is the error of [Recognise] for what is not a Precomputed volume.
var ErrNotRecognised = errors.New("not a Neuroglancer Precomputed volume")

func notExist(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}
