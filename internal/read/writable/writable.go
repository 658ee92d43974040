// Package writable describes mags whose voxels can be written. The tree of names makes writable files of such a mag,
// and does not know how it writes.
package writable

import (
	"context"
	"io/fs"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// Mag is a mag whose voxels can be written. The mag itself shows what was written as far as it is durable.
type Mag interface {
	volume.Mag
	// Under returns the mag without what was written. It has the same geometry.
	Under() volume.Mag
	// Voxels returns what was written.
	Voxels() Voxels
}

// Voxels is what was written over the voxels of a mag.
//
// Its methods take a box, in absolute voxels of the mag, whose voxels are a flat array: x fastest, then y, then z. p is
// the bytes of this array from byte off on, and lies in it. They may be called by several goroutines at once.
type Voxels interface {
	// Patch replaces those bytes of p that were written since the mag under it was made. The others stay as they are.
	Patch(ctx context.Context, box volume.Box, p []byte, off int64) error
	// Write writes p. It wraps fs.ErrInvalid if p has a voxel outside of the bounding box of the layer that is not 0.
	Write(ctx context.Context, box volume.Box, p []byte, off int64) error
	// Check returns the error that Write would return for p because of a voxel outside of the bounding box.
	Check(box volume.Box, p []byte, off int64) error
	// Sync makes what was written in the box durable.
	Sync(ctx context.Context, box volume.Box) error
	// Info describes where it is kept. Those who may write there may write voxels.
	Info() fs.FileInfo
	// Changed returns when a voxel was last written, or the zero time.
	Changed() time.Time
}

// File is an open file of voxels that can be written, with or without a header. Offsets are in bytes, from the first
// voxel on.
type File interface {
	fs.File
	// Grid has size, type and channels of the voxels.
	Grid() volume.Grid
	// Check returns why p cannot be written: see [Voxels].
	Check(p []byte, off int64) error
	// WriteVoxels writes p.
	WriteVoxels(ctx context.Context, p []byte, off int64) error
	// Sync makes what was written durable.
	Sync(ctx context.Context) error
}
