package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/volume"
)

// decodeFlat decodes blocks into a flat array of their voxels in one thread, as the library of the format does.
func decodeFlat(ctx context.Context, src volume.Source, blocks volume.Box, flat []byte) error {
	side := src.Grid().Block
	return decodeInto(ctx, src, blocks, flat, blocks.Size().Mul(side), volume.Vec{}.Sub(blocks.Min.Mul(side)))
}

// decodeInto decodes blocks into a flat array of the given size. at is the position of the source's first voxel
// in the array.
func decodeInto(ctx context.Context, src volume.Source, blocks volume.Box, flat []byte, size, at volume.Vec) error {
	g := src.Grid()
	zeros := make([]byte, g.BlockBytes())
	return decodeFew(ctx, src, blocks, func(decoded []volume.Block) {
		for _, b := range decoded {
			voxels := b.Voxels
			if voxels == nil {
				voxels = zeros
			}
			scatter(flat, size, voxels, g.Block, at.Add(b.At.Mul(g.Block)), g.VoxelBytes())
		}
	})
}

// few is the number of blocks on each axis that are decoded at once. They are contiguous in the file, and fit
// into the private cache of a core.
var few = volume.Vec{4, 2, 2}

// decodeFew decodes blocks, a few at a time, and calls show with them. It reuses the memory after show returns.
func decodeFew(ctx context.Context, src volume.Source, blocks volume.Box, show func(decoded []volume.Block)) error {
	n := src.Grid().BlockBytes()
	memory := make([]byte, few[0]*few[1]*few[2]*n)
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
		}
		show(decoded)
	}
	return nil
}

// scatter copies the rows of a block to position at of a flat array. size and at are in voxels, voxel is the
// size of a voxel in bytes.
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

// partsPerThread is the number of parts for each thread. Small parts keep the threads start waiting for the last
// one.
const partsPerThread = 8

// decode decodes blocks in several threads and drops the voxels. It shows the speed of the decoder alone.
func decode(ctx context.Context, src volume.Source, blocks volume.Box, threads int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(threads)
	for _, part := range divide(blocks, threads*partsPerThread) {
		group.Go(func() error { return decodeFew(ctx, src, part, func([]volume.Block) {}) })
	}
	return group.Wait()
}

// divide cuts a box into about n parts across its longest axis.
func divide(b volume.Box, n int) []volume.Box {
	axis := 0
	for i, side := range b.Size() {
		if side >= b.Size()[axis] {
			axis = i
		}
	}
	step := (b.Size()[axis] + n - 1) / n
	var parts []volume.Box
	for start := b.Min[axis]; start < b.Max[axis]; start += step {
		part := b
		part.Min[axis], part.Max[axis] = start, min(start+step, b.Max[axis])
		parts = append(parts, part)
	}
	return parts
}

// allBlocks returns the box of all blocks of a source.
func allBlocks(src volume.Source) volume.Box { return volume.Box{Max: src.Grid().Blocks()} }

// timed returns the time of a call in seconds, and the CPU time of this process in seconds.
func timed(do func() error) (seconds, cpu float64, err error) {
	before, err := ownTime()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	seconds = time.Since(start).Seconds()
	after, err := ownTime()
	return seconds, after - before, err
}
