package importer

import (
	"errors"
	"fmt"
)

// FormatError says which field of an input's header cannot be used and why: it breaks
// the format, or asks for something that is not imported.
type FormatError struct {
	File     string
	Field    string
	Offset   int64 // of the field in the file, in bytes
	Expected string
	Found    string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %s at byte %d: expected %s, found %s", e.File, e.Field, e.Offset, e.Expected, e.Found)
}

var (
	// ErrNotRecognised says that an input has no header that is known.
	ErrNotRecognised = errors.New("not an .npy, NRRD, NIfTI or TIFF file")
	// ErrExists says that the layer is there already.
	ErrExists = errors.New("the layer exists already")
	// ErrOther says that another import into the layer was not finished.
	ErrOther = errors.New("an import of another input, or with other settings, was not finished here")
	// ErrNoScale says that nothing tells the size of a voxel.
	ErrNoScale = errors.New("the size of a voxel is not known")
	// ErrPlace says that the header's place of the voxels cannot be that of a layer.
	ErrPlace = errors.New("the place of the voxels cannot be used")
)
