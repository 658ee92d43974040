package main

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/volume"
)

// decodeFlat decodes blocks into a flat array of just their voxels, in one thread: the
// way of the library that came with the format.
func decodeFlat(ctx context.Context, src volume.Source, blocks volume.Box, flat []byte) error {
	side := src.Grid().Block
	return decodeInto(ctx, src, blocks, flat, blocks.Size().Mul(side), volume.Vec{}.Sub(blocks.Min.Mul(side)))
}

// decodeInto decodes blocks into a flat array of the given size in which the source's
// first voxel has the place at.
func decodeInto(ctx context.Context, src volume.Source, blocks volume.Box, flat []byte, size, at volume.Vec) error {
	g := src.Grid()
	for b := range blocks.All() {
		block, err := src.Block(ctx, b)
		if err != nil {
			return err
		}
		scatter(flat, size, block, g.Block, at.Add(b.Mul(g.Block)), g.VoxelBytes())
	}
	return nil
}

// scatter copies the rows of a block to its place in a flat array. Sizes and the
// place are in voxels of so many bytes.
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

// decode decodes blocks in so many threads, and drops their voxels.
func decode(ctx context.Context, src volume.Source, blocks volume.Box, threads int) error {
	queue := make(chan volume.Vec, 4*threads)
	group, ctx := errgroup.WithContext(ctx)
	for range threads {
		group.Go(func() error {
			for b := range queue {
				if _, err := src.Block(ctx, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(queue)
		for b := range blocks.All() {
			select {
			case queue <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// allBlocks is every block of an array.
func allBlocks(src volume.Source) volume.Box { return volume.Box{Max: src.Grid().Blocks()} }
