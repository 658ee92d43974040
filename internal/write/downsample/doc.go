// Package downsample reduces arrays of voxels to a coarser mag. Each cell of 1 or 2 finer voxels on each axis becomes
// one voxel. The channels of voxels are reduced separately.
//
//	r, err := downsample.New(downsample.Mean, volume.Uint8, 1, volume.Vec{2, 2, 1})
//	r.Reduce(dst, dstPitch, src, srcPitch, size)
//
// A [Reducer] takes whole cells only. If a box ends inside a cell, the caller decides by padding what the missing
// voxels are. If they are zeros, the zeros count, as in WEBKNOSSOS. If they repeat the neighbours inside the box, only
// the voxels inside the box count: all of a cell's voxels then occur equally often, which changes no result.
//
// A Reducer allocates no memory per call and has no state. Many goroutines may use it at a time.
package downsample
