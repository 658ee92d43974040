package chunked

import (
	"cmp"
	"fmt"

	"github.com/wkwfs/wkwfs/volume"
)

// geometry says which voxels are where in an array.
type geometry struct {
	axis     [4]int      // array axes of x, y, z and the channel, or none
	index    []int       // on each other axis of the array: what is shown
	size     volume.Vec  // of the array, in voxels
	grid     volume.Grid // of cube 0,0,0; Origin is that of the array
	channels [2]int      // the first channel that is shown and the end, on the channel axis
	part     []int       // extent of what a chunk has of a block, on each axis of the array
	cut      int         // array axis on which a chunk has more than one block, or none
}

// newGeometry returns the geometry of an array that is valid.
func newGeometry(a *Array, o Options) (*geometry, error) {
	first, channels := o.Channel, o.Channels
	axis, err := a.axes(o)
	if err != nil {
		return nil, err
	}
	index, err := a.indexOf(o, axis)
	if err != nil {
		return nil, err
	}
	g := &geometry{axis: axis, index: index, size: volume.Cube(1), part: a.block(), cut: none}
	g.divide(a, cmp.Or(o.minPart, minPart), o.whole)
	cube, block := volume.Cube(1), volume.Cube(1)
	for i := range 3 {
		if at := axis[i]; at != none {
			g.size[i], cube[i], block[i] = a.Shape[at], a.Chunk[at], g.part[at]
		}
	}
	total := 1
	if axis[axisC] != none {
		total = a.Shape[axis[axisC]]
	}
	if channels == 0 {
		channels = total - first
	}
	if first < 0 || channels < 1 || channels > total-first || channels > maxChannels { // first+channels may overflow
		return nil, fmt.Errorf("channels: expected some of 0 to %d, at most %d, found %d from %d on", total-1,
			maxChannels, channels, first)
	}
	g.channels = [2]int{first, first + channels}
	g.grid = volume.Grid{Size: cube, Block: block, Type: a.Type, Channels: channels}
	if err := g.grid.Validate(); err != nil {
		return nil, err
	}
	if g.grid.BlockBytes() > MaxChunkBytes {
		return nil, fmt.Errorf("chunk: expected at most %d bytes with all channels, found %d", MaxChunkBytes,
			g.grid.BlockBytes())
	}
	if parts := g.parts(a); parts[1]-parts[0] > maxParts {
		return nil, fmt.Errorf("channels: expected at most %d chunks, found %d", maxParts, parts[1]-parts[0])
	}
	return g, nil
}

// parts returns the first chunk and the end on the channel axis, in chunks.
func (g *geometry) parts(a *Array) [2]int {
	if g.axis[axisC] == none {
		return [2]int{0, 1}
	}
	n := a.Chunk[g.axis[axisC]]
	return [2]int{g.channels[0] / n, (g.channels[1]-1)/n + 1}
}

// position returns the array indices, in units of something on each axis, of voxel position v and channel position c.
// All other axes are 0: see [geometry.onOthers].
func (g *geometry) position(rank int, v volume.Vec, c int) []int {
	at := make([]int, rank)
	for i := range 3 {
		if g.axis[i] != none {
			at[g.axis[i]] = v[i]
		}
	}
	if g.axis[axisC] != none {
		at[g.axis[axisC]] = c
	}
	return at
}

// onOthers changes positions that [geometry.position] returned on the other axes: to what is shown, in units of
// something on each axis.
func (g *geometry) onOthers(at, unit []int) []int {
	for axis, n := range g.index {
		if n > 0 {
			at[axis] = n / unit[axis]
		}
	}
	return at
}

// inChunk returns the position in its chunk of what is shown of an axis. chunk is the extent of the chunk.
func (g *geometry) inChunk(axis int, chunk []int) int { return g.index[axis] % chunk[axis] }
