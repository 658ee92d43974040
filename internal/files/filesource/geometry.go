package filesource

import "github.com/wkwfs/wkwfs/volume"

// blockBytes is the size of a block, if what is read at once is smaller: a request for less costs as much.
const blockBytes = 64 << 10

// blockOf returns the size of the blocks of an array. unit is what is read at once. If units are whole rows, a block
// has several of them, and then several planes. Other units stay apart on x and y, so that a small box needs few of
// them.
func blockOf(g volume.Grid, unit volume.Vec, atLeast int) volume.Vec {
	block := unit.Min(g.Size)
	if block == volume.Cube(1) { // the axes of the file have another order
		return volume.Cube(64).Min(g.Size)
	}
	for _, axis := range []int{1, 2} {
		if axis == 1 && block[0] < g.Size[0] {
			continue
		}
		bytes := g.VoxelBytes() * block[0] * block[1] * block[2]
		if grown := block[axis] * max(1, atLeast/bytes); grown < g.Size[axis] {
			block[axis] = grown
			return block
		}
		block[axis] = g.Size[axis]
	}
	return block
}
