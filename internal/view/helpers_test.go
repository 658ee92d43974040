package view_test

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// coords is a source whose bytes encode their own coordinates, so that a byte from
// the wrong place is seen. Blocks in absent were never written.
type coords struct {
	grid   volume.Grid
	absent map[volume.Vec]bool
}

func (c coords) Grid() volume.Grid { return c.grid }

func (c coords) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		if at := blocks[i].At; !c.absent[at] {
			blocks[i].Voxels = memory(at)
			c.fill(blocks[i].Voxels, at)
		}
	}
}

func (c coords) fill(block []byte, at volume.Vec) {
	n := c.grid.VoxelBytes()
	lo := at.Mul(c.grid.Block)
	for v := range (volume.Box{Min: lo, Max: lo.Add(c.grid.Block)}).All() {
		for i := range n {
			block[0] = byteAt(v, i)
			block = block[1:]
		}
	}
}

// byteAt is byte i of the voxel at v; never 0, so that it is told from a hole.
func byteAt(v volume.Vec, i int) byte {
	h := uint32(v[0])*2654435761 + uint32(v[1])*40503 + uint32(v[2])*2246822519 + uint32(i)*97
	return byte(h>>13)%255 + 1
}

// naive is the flat array as its definition says: voxel by voxel.
func naive(c coords, box volume.Box) []byte {
	var flat []byte
	for v := range box.All() {
		for i := range c.grid.VoxelBytes() {
			if !v.In(c.grid.Size) || c.absent[v.Div(c.grid.Block)] {
				flat = append(flat, 0)
			} else {
				flat = append(flat, byteAt(v, i))
			}
		}
	}
	return flat
}

func grid(size, block volume.Vec, t volume.Type, channels int) volume.Grid {
	return volume.Grid{Size: size, Block: block, Type: t, Channels: channels}
}
