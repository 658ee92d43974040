package flat

import (
	"github.com/wkwfs/wkwfs/volume"
)

// Array is a box of a grid as an array of bytes: byte v·(x + X·(y + Y·z)) is the first of voxel x, y, z of the box, where
// v is the bytes of a voxel and X, Y the extent of the box. Where the box sticks out of the valid part of the grid, and
// in blocks that were never written, the bytes are zero. An Array is immutable.
type Array struct {
	grid  volume.Grid
	box   volume.Box // in voxels of the grid
	valid volume.Box // the part of the grid that has voxels, likewise
	voxel int64      // bytes of a voxel, of a row of the box and of a plane
	row   int64
	plane int64
	size  int64
}

// New lays out the box, which is in voxels of the grid and not empty. Its bytes must be fewer than 2^63
// (volume.Grid.Validate). Outside of valid, which lies inside the grid, all is zero.
func New(grid volume.Grid, box, valid volume.Box) *Array {
	a := &Array{grid: grid, box: box, valid: valid, voxel: int64(grid.VoxelBytes())}
	size := box.Size()
	a.row = a.voxel * int64(size[0])
	a.plane = a.row * int64(size[1])
	a.size = a.plane * int64(size[2])
	return a
}

// Size returns the bytes of the array.
func (a *Array) Size() int64 { return a.size }

// Row returns the bytes of a row of the box, and Plane those of an xy plane.
func (a *Array) Row() int64   { return a.row }
func (a *Array) Plane() int64 { return a.plane }

// Grid returns the grid, Box the box and Valid the valid part of the grid, in voxels of the grid.
func (a *Array) Grid() volume.Grid { return a.grid }
func (a *Array) Box() volume.Box   { return a.box }
func (a *Array) Valid() volume.Box { return a.valid }

// Blocks returns the blocks that the box has voxels of.
func (a *Array) Blocks() volume.Box {
	return volume.Box{Min: a.box.Min.Div(a.grid.Block), Max: a.box.Max.CeilDiv(a.grid.Block)}
}

// Offset returns the byte at which a voxel of the box, in voxels of the grid, begins.
func (a *Array) Offset(v volume.Vec) int64 {
	v = v.Sub(a.box.Min)
	return int64(v[0])*a.voxel + int64(v[1])*a.row + int64(v[2])*a.plane
}

// RowAt returns y and z, in voxels of the grid, of the row that has the byte at off.
func (a *Array) RowAt(off int64) (y, z int) {
	return int(off%a.plane/a.row) + a.box.Min[1], int(off/a.plane) + a.box.Min[2]
}

// Fill fills p with the bytes from off on, all of which lie in the array. It calls read with the blocks that have valid bytes of
// them, each block once, at most maxBlocks at a time. read must call place for each of these blocks with its
// voxels, or nil if the block was never written, in any order, from one goroutine. Fill returns the first error of read.
func (a *Array) Fill(p []byte, off int64, read func(blocks []volume.Vec, place func(at volume.Vec, voxels []byte)) error) error {
	if first := a.split(off, int64(len(p))); first > 0 {
		if err := a.Fill(p[:first], off, read); err != nil {
			return err
		}
		return a.Fill(p[first:], off+first, read)
	}
	r := a.newRange(p, off)
	return r.needed(func(blocks []volume.Vec) error { return read(blocks, r.place) })
}

// split returns how many bytes of a range should be read by themselves, or 0. A range
// that runs from the end of a plane or row over to the start of the next has little of
// both, but the box that holds it has all their blocks, which can be millions.
func (a *Array) split(off, n int64) int64 {
	last := off + n - 1
	apart := func(axis int, unit, length int64) bool {
		side, lo := volume.Cube(a.grid.Block[axis]), int64(a.box.Min[axis])
		first, end := volume.Vec{int(lo + off%length/unit)}, volume.Vec{int(lo + last%length/unit)}
		return n < length && off/length != last/length && end.Div(side)[0] < first.Div(side)[0]
	}
	switch inRow, inPlane := apart(0, a.voxel, a.row), apart(1, a.row, a.plane); {
	case (inRow || inPlane) && off/a.plane != last/a.plane:
		return a.plane - off%a.plane
	case inRow:
		return a.row - off%a.row
	}
	return 0
}
