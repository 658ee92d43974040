package main

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// decodes returns a contender that decodes boxes of whole blocks in this process, as a library does: in one thread,
// into memory that is resident.
func (b *bench) decodes(d *dataset, choose func(volume.Grid) []volume.Box, figure statistic) contender {
	return contender{Name: oneThread, stored: d.stored, do: func(ctx context.Context, r reading) (turn, error) {
		cube, err := d.open()
		if err != nil {
			return turn{}, err
		}
		defer cube.Close()
		return b.readBoxes(choose, func(_ reading, box volume.Box, voxels []byte) error {
			return decodeFlat(ctx, cube, box.Div(r.grid.Block), voxels)
		}, figure)(ctx, r)
	}}
}

// few is the number of blocks on each axis that are decoded at once. They are contiguous in the file, and fit into the
// private cache of a core.
var few = volume.Vec{4, 2, 2}

// decodeFlat decodes a box of blocks, which are all stored, into a flat array of their voxels. It decodes a few blocks
// at a time.
func decodeFlat(ctx context.Context, src volume.Source, blocks volume.Box, flat []byte) error {
	g := src.Grid()
	n := g.BlockBytes()
	memory := make([]byte, few[0]*few[1]*few[2]*n)
	size := blocks.Size().Mul(g.Block)
	var decoded []volume.Block
	for i := range blocks.Div(few).All() {
		group := volume.Box{Min: i.Mul(few), Max: i.Mul(few).Add(few)}
		decoded = decoded[:0]
		for at := range blocks.Intersect(group).All() {
			decoded = append(decoded, volume.Block{At: at})
		}
		src.Fill(ctx, decoded, func(at volume.Vec) []byte { return memory[at.Sub(group.Min).Index(few)*n:][:n] })
		for _, b := range decoded {
			if b.Err != nil {
				return b.Err
			}
			scatter(flat, size, b.Voxels, g.Block, b.At.Sub(blocks.Min).Mul(g.Block), g.VoxelBytes())
		}
	}
	return nil
}

// scatter copies the rows of a block to position at of a flat array. size and at are in voxels, voxel is the size of a
// voxel in bytes.
func scatter(flat []byte, size volume.Vec, block []byte, side, at volume.Vec, voxel int) {
	row := side[0] * voxel
	for z := range side[2] {
		for y := range side[1] {
			i := at.Add(volume.Vec{0, y, z}).Index(size) * voxel
			copy(flat[i:i+row], block)
			block = block[row:]
		}
	}
}
