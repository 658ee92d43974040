// Package voxeltest is a model for tests: a source of voxels that encode their coordinates, and what its flat array
// must contain.
package voxeltest

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// Source is a [volume.Source] whose bytes encode their own coordinates, so that a test detects a byte from the wrong
// place.
type Source struct {
	Shape   volume.Grid
	Absent  map[volume.Vec]bool  // blocks that were never written
	Damaged map[volume.Vec]error // blocks that cannot be read, with their errors
}

// Grid returns the shape.
func (s Source) Grid() volume.Grid { return s.Shape }

// Fill implements [volume.Source].
func (s Source) Fill(_ context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		if b.Err = s.Damaged[b.At]; b.Err == nil && !s.Absent[b.At] {
			b.Voxels = memory(b.At)
			s.decode(b.Voxels, b.At)
		}
	}
}

func (s Source) decode(voxels []byte, at volume.Vec) {
	lo := at.Mul(s.Shape.Block)
	row := s.Shape.Block[0] * s.Shape.VoxelBytes()
	for v := lo; v[2] < lo[2]+s.Shape.Block[2]; v[2]++ {
		for v[1] = lo[1]; v[1] < lo[1]+s.Shape.Block[1]; v[1]++ {
			fillRow(voxels[:row], v, s.Shape.VoxelBytes())
			voxels = voxels[row:]
		}
	}
}

// fillRow fills row with voxels along x, of which the first is at v.
func fillRow(row []byte, v volume.Vec, voxelBytes int) {
	var buffer [512]byte // the race detector does not look at each byte of a local variable
	hash, i := hashOf(v), 0
	for len(row) > 0 {
		piece := buffer[:min(len(buffer), len(row))]
		for j := range piece {
			piece[j] = byteOf(hash, i)
			if i++; i == voxelBytes {
				hash, i = hash+nextX, 0
			}
		}
		row = row[copy(row, piece):]
	}
}

// Flat returns the flat array of a box. Voxels that are absent or outside of the grid are zeros.
func (s Source) Flat(box volume.Box) []byte {
	size := box.Size()
	n := s.Shape.VoxelBytes()
	flat := make([]byte, size[0]*size[1]*size[2]*n)
	rest := flat
	for v := box.Min; v[2] < box.Max[2]; v[2]++ {
		for v[1] = box.Min[1]; v[1] < box.Max[1]; v[1]++ {
			for v[0] = box.Min[0]; v[0] < box.Max[0]; {
				run := s.run(v, box.Max[0])
				if v.In(s.Shape.Size) && !s.Absent[v.Div(s.Shape.Block)] {
					fillRow(rest[:run*n], v, n)
				}
				rest = rest[run*n:]
				v[0] += run
			}
		}
	}
	return flat
}

// run returns how many voxels from v along x, up to end, are in the same block, and all inside or all outside of the
// grid.
func (s Source) run(v volume.Vec, end int) int {
	for _, limit := range []int{0, s.Shape.Size[0], (v.Div(s.Shape.Block)[0] + 1) * s.Shape.Block[0]} {
		if limit > v[0] {
			end = min(end, limit)
		}
	}
	return end - v[0]
}

// ByteAt returns byte i of the voxel at v. It is never 0, the value of absent voxels.
func ByteAt(v volume.Vec, i int) byte { return byteOf(hashOf(v), i) }

// nextX is how much the hash of a voxel is more than that of the voxel before it along x.
const nextX uint32 = 2654435761

func hashOf(v volume.Vec) uint32 {
	return uint32(v[0])*nextX + uint32(v[1])*40503 + uint32(v[2])*2246822519
}

func byteOf(hash uint32, i int) byte { return byte((hash+uint32(i)*97)>>13)%255 + 1 }

// Grid returns a grid of the size and the block size, both in voxels.
func Grid(size, block volume.Vec, t volume.Type, channels int) volume.Grid {
	return volume.Grid{Size: size, Block: block, Type: t, Channels: channels}
}
