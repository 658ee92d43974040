package flat

import (
	"github.com/wkwfs/wkwfs/volume"
)

// Array is a box of a grid as an array of bytes. Voxel x, y, z of the box starts at byte v·(x + X·(y + Y·z)), where v
// is the size of a voxel in bytes and X × Y is the size of an xy plane of the box in voxels. Bytes outside of the
// valid part of the grid are zero, and so are the bytes of blocks that were never written. An Array is immutable.
type Array struct {
	grid  volume.Grid
	box   volume.Box // in voxels of the grid
	valid volume.Box // the part of the grid that has voxels, in voxels of the grid
	voxel int64      // size of a voxel in bytes
	row   int64      // of a row of the box
	plane int64      // of an xy plane of the box
	size  int64      // of the box

	limits
}

// limits bound what a caller of [Array.Fill] reads at once. Tests make them small, so that small arrays reach them.
type limits struct {
	blocks int        // the most blocks that are read at once
	tile   volume.Vec // the size of the groups in which blocks are read, in blocks
}

// usual are the limits of an array. Formats store neighbours on x and y close to each other. A tile has one layer of
// blocks: a cache with little more room than for one layer needs all of a layer to be read before the next.
var usual = limits{blocks: 1024, tile: volume.Vec{4, 2, 1}}

// New returns the array of a box. The box and its valid part are in voxels of the grid. The box must not be empty,
// and must have fewer than 2^63 bytes (see volume.Grid.Validate). It may reach outside of valid, and valid must lie
// inside the grid.
func New(grid volume.Grid, box, valid volume.Box) *Array {
	a := &Array{grid: grid, box: box, valid: valid, voxel: int64(grid.VoxelBytes()), limits: usual}
	size := box.Size()
	a.row = a.voxel * int64(size[0])
	a.plane = a.row * int64(size[1])
	a.size = a.plane * int64(size[2])
	return a
}

// Size returns the size of the array in bytes.
func (a *Array) Size() int64 { return a.size }

// RowBytes returns the size of a row of the box in bytes.
func (a *Array) RowBytes() int64 { return a.row }

// PlaneBytes returns the size of an xy plane of the box in bytes.
func (a *Array) PlaneBytes() int64 { return a.plane }

// Grid returns the grid.
func (a *Array) Grid() volume.Grid { return a.grid }

// Box returns the box of the array, in voxels of the grid.
func (a *Array) Box() volume.Box { return a.box }

// Valid returns the part of the grid that has voxels, in voxels of the grid.
func (a *Array) Valid() volume.Box { return a.valid }

// Blocks returns the blocks that overlap the box.
func (a *Array) Blocks() volume.Box {
	return a.box.Div(a.grid.Block)
}

// Offset returns the offset of voxel v of the box in the array, in bytes. v is in voxels of the grid.
func (a *Array) Offset(v volume.Vec) int64 {
	v = v.Sub(a.box.Min)
	return int64(v[0])*a.voxel + int64(v[1])*a.row + int64(v[2])*a.plane
}

// RowAt returns y and z of the row that contains the byte at off, in voxels of the grid.
func (a *Array) RowAt(off int64) (y, z int) {
	return int(off%a.plane/a.row) + a.box.Min[1], int(off/a.plane) + a.box.Min[2]
}

// Fill copies the bytes [off, off+len(p)) of the array to p. The range must lie in the array. Fill calls read for the
// blocks that contain valid bytes of the range: each block once, at most 1,024 in a call. For each of these blocks,
// read must call copyBlock with the voxels of the block, or with nil if it was never written, in any order. Several
// goroutines may do so at once. Fill returns the first error of read.
func (a *Array) Fill(p []byte, off int64, read func(blocks []volume.Vec,
	copyBlock func(at volume.Vec, voxels []byte)) error) error {
	if first := a.split(off, int64(len(p))); first > 0 {
		if err := a.Fill(p[:first], off, read); err != nil {
			return err
		}
		return a.Fill(p[first:], off+first, read)
	}
	r := a.newRange(p, off)
	return r.readBlocks(func(blocks []volume.Vec) error { return read(blocks, r.copyBlock) })
}

// split returns the length of the first part of a range that should be read in two parts, or 0. A range from the end
// of a row or plane to the start of the next one contains few blocks, but its bounding box contains all blocks of
// both: perhaps millions.
func (a *Array) split(off, n int64) int64 {
	last := off + n - 1
	farApart := func(axis int, unit, length int64) bool {
		side, lo := volume.Cube(a.grid.Block[axis]), int64(a.box.Min[axis])
		first, end := volume.Vec{int(lo + off%length/unit)}, volume.Vec{int(lo + last%length/unit)}
		return n < length && off/length != last/length && end.Div(side)[0] < first.Div(side)[0]
	}
	switch inRow, inPlane := farApart(0, a.voxel, a.row), farApart(1, a.row, a.plane); {
	case (inRow || inPlane) && off/a.plane != last/a.plane:
		return a.plane - off%a.plane
	case inRow:
		return a.row - off%a.row
	}
	return 0
}
