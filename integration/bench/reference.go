package main

import (
	"context"
	"time"

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

// few is how many blocks are decoded at once. They follow each other in the file, and a
// core's own cache has room for them.
var few = volume.Vec{4, 2, 2}

// decodeFew decodes blocks, a few at a time. It shows them, and then uses their memory again.
func decodeFew(ctx context.Context, src volume.Source, blocks volume.Box, show func(decoded []volume.Block)) error {
	n := src.Grid().BlockBytes()
	memory := make([]byte, few[0]*few[1]*few[2]*n)
	var decoded []volume.Block
	for i := range (volume.Box{Min: blocks.Min.Div(few), Max: blocks.Max.CeilDiv(few)}).All() {
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

// partsPerThread is how many parts there are for a thread, so that none waits long for
// another at the end.
const partsPerThread = 8

// decode decodes blocks in so many threads, and drops their voxels: what the decoder
// can do where nothing else is to be done.
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
	for from := b.Min[axis]; from < b.Max[axis]; from += step {
		part := b
		part.Min[axis], part.Max[axis] = from, min(from+step, b.Max[axis])
		parts = append(parts, part)
	}
	return parts
}

// allBlocks is every block of an array.
func allBlocks(src volume.Source) volume.Box { return volume.Box{Max: src.Grid().Blocks()} }

// timed returns how many seconds something took, and how many CPU seconds of ours.
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
