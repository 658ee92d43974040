package arrayfile

import (
	"errors"

	"github.com/wkwfs/wkwfs/volume"
)

func invalid(file, field string, offset int64, expected, found string) error {
	return &volume.FormatError{File: file, Part: field, Offset: offset, Expected: expected, Found: found}
}

var (
	// ErrNotRecognised is the error of a file without a known header.
	ErrNotRecognised = errors.New("not an .npy, NRRD, MetaImage, NIfTI, MRC, TIFF, PNG or JPEG file")
	// ErrPosition is the error of voxels at a position that a layer cannot have.
	ErrPosition = errors.New("invalid position of the voxels")
)
