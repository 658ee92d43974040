package arrayfile

import (
	"errors"

	"github.com/wkwfs/wkwfs/volume"
)

func invalid(file, field string, offset int64, expected, found string) error {
	return &volume.FormatError{File: file, Part: field, Offset: offset, Expected: expected, Found: found}
}

// unreadable is the error of a part of a file that cannot be read or decoded.
func unreadable(file, part string, offset int64, err error) error {
	return &volume.FormatError{File: file, Part: part, Offset: offset, Err: err}
}

var (
	// ErrNotRecognised is the error of a file without a known header.
	ErrNotRecognised = errors.New("not an .npy, NRRD, MetaImage, NIfTI, MRC, TIFF, PNG or JPEG file")
	// ErrPosition is the error of voxels at a position that a layer cannot have.
	ErrPosition = errors.New("invalid position of the voxels")
)
