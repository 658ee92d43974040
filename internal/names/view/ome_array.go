package view

import (
	"github.com/wkwfs/wkwfs/internal/names/omezarr"
	"github.com/wkwfs/wkwfs/volume"
)

// omeArray is the geometry of a mag as an array of OME-Zarr.
//
// Index 0 is voxel 0 of the mag, as in the arrays that WEBKNOSSOS writes. So all mags and layers start at the same
// place, also for programs that ignore translations. If the layer starts below 0, index 0 is its first voxel, rounded
// down to a chunk. The array ends where the layer ends.
type omeArray struct {
	geometry
	channels int
	hasC     bool // there is an axis of channels
	// chunks are in the container of Blosc, because most blocks are LZ4 already: each is a column of blocks
	blosc bool
}

func newOMEArray(snap *snapshot) omeArray {
	g, bounds := snap.Cube(), snap.Bounds()
	a := omeArray{channels: g.Channels, hasC: g.Channels > 1, blosc: g.Channels == 1 && snap.About().LZ4}
	a.chunk, a.extent = columnOf(g, snap.column), volume.Box{Max: bounds.Max}
	first := snap.Local(bounds).Min.Div(a.chunk).Mul(a.chunk).Add(g.Origin)
	for axis := range 3 {
		if bounds.Min[axis] < 0 {
			a.extent.Min[axis] = first[axis]
		}
		a.blosc = a.blosc && chunkOf(g)[axis] == g.Block[axis] && (a.extent.Min[axis]-g.Origin[axis])%a.chunk[axis] == 0
	}
	return a
}

// describe returns the description of the array for metadata.
func (a omeArray) describe(name string, snap *snapshot) omezarr.Level {
	return omezarr.Level{
		Name: name, Type: snap.Cube().Type, Channels: a.channels, Size: a.extent.Size(), Chunk: a.chunk,
		Start:  a.extent.Min,
		Factor: snap.About().Factor, Voxel: snap.Cube().Spacing, Blosc: a.blosc,
	}
}

// numbers returns the number of chunks on each axis of the array, slowest first.
func (a omeArray) numbers() []int {
	n := a.extent.Size().CeilDiv(a.chunk)
	if !a.hasC {
		return []int{n[2], n[1], n[0]}
	}
	return []int{a.channels, n[2], n[1], n[0]}
}

// space returns the part of chunk numbers that is for z, y and x, as far as there are such numbers.
func (a omeArray) space(numbers []int) []int {
	if !a.hasC {
		return numbers
	}
	return numbers[min(1, len(numbers)):]
}

// voxels returns the voxels of chunk c, in absolute voxels of the mag. Chunks at the end are whole: they end after the
// array.
func (a omeArray) voxels(c volume.Vec) volume.Box {
	lo := a.extent.Min.Add(c.Mul(a.chunk))
	return volume.Box{Min: lo, Max: lo.Add(a.chunk)}
}
