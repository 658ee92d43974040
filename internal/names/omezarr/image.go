package omezarr

import (
	"github.com/wkwfs/wkwfs/volume"
)

// Image is a layer as an image at several resolutions.
type Image struct {
	Name   string
	Labels bool // values are IDs of segments
	Window volume.Window
	Levels []Level // finest first, at least one, all of the same type and channels
}

// Level is a mag as an array. Its axes are z, y, x; with more than one channel they are c, z, y, x; with times, t, c,
// z, y, x.
type Level struct {
	Name     string // of its directory
	Times    int    // 0: there is no axis of time
	Type     volume.Type
	Channels int
	Size     volume.Vec // voxels
	Chunk    volume.Vec // voxels
	Start    volume.Vec // position of index 0, in voxels of the mag

	Factor volume.Factor // size of a voxel in voxels of mag 1; an axis with 0 counts as 1
	Voxel  [3]float64    // size of a voxel in nm; 0 if unknown

	// Blosc means that the chunks are in the container format of c-blosc, with LZ4. Else they have no compressor.
	Blosc bool
}

// axes returns the values of an array for each of its axes, slowest first: time and channel for these axes, as far as
// the array has them, then those of z, y and x.
func axes[T any](l Level, time, channel T, xyz [3]T) []T {
	all := []T{time, channel, xyz[2], xyz[1], xyz[0]}
	switch {
	case l.Times > 0:
		return all
	case l.Channels == 1:
		return all[2:]
	}
	return all[1:]
}

// names returns the names of the axes.
func (l Level) names() []string { return axes(l, "t", "c", [3]string{"x", "y", "z"}) }

// dimensions returns the names of the axes for xarray, which opens a group only if axes of one name have one extent in
// all of its arrays. So those of coarser mags have names of their own. In Zarr 3, OME-Zarr demands the names of the
// axes.
func (l Level) dimensions() []string {
	if l.Factor == (volume.Factor{1, 1, 1}) {
		return l.names()
	}
	return axes(l, "t", "c", [3]string{"x_" + l.Name, "y_" + l.Name, "z_" + l.Name})
}

// shape returns the extent of the array on each axis.
func (l Level) shape() []int { return axes(l, l.Times, l.Channels, l.Size) }

// chunks returns the extent of a chunk on each axis. A chunk has one channel of one time.
func (l Level) chunks() []int { return axes(l, 1, 1, l.Chunk) }

// factor returns the size of a voxel in voxels of mag 1.
func (l Level) factor(axis int) float64 { return float64(max(l.Factor[axis], 1)) }

// scale returns the size of a voxel on an axis: in nm, or in voxels of mag 1 if the size in nm is not known.
func (l Level) scale(axis int) float64 {
	if l.Voxel[axis] > 0 {
		return l.Voxel[axis]
	}
	return l.factor(axis)
}

// translation returns the position of the centre of the array's first voxel, in the unit of scale. Position 0 is the
// centre of voxel 0,0,0 of mag 1. A voxel of a coarser mag covers several voxels of mag 1, so its centre is half of the
// difference of their sizes away.
func (l Level) translation(axis int) float64 {
	size := l.scale(axis)
	return float64(l.Start[axis])*size + (size-size/l.factor(axis))/2
}
