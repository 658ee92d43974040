package importer

import "errors"

var (
	// ErrExists is the error of a layer that exists already.
	ErrExists = errors.New("the layer exists already")
	// ErrUnfinished is the error of a layer with an interrupted import of another input, or with other options.
	ErrUnfinished = errors.New("an import of another input, or with other settings, is not finished")
	// ErrReplaced is the error of an import whose layer was replaced by that of another process, on a file system
	// without locks.
	ErrReplaced = errors.New("another import has written the layer at the same time")
	// ErrNoScale is the error of voxels without a size: neither options, dataset nor header have it.
	ErrNoScale = errors.New("unknown voxel size")
	// ErrCategory is the error of an input that may be an image or a segmentation.
	ErrCategory = errors.New("color or segmentation is in doubt")
)
