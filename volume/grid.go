package volume

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Grid is the geometry of a block-wise array. It is a plain value; compare with ==.
type Grid struct {
	Size     Vec        // extent in voxels
	Block    Vec        // extent of a block in voxels; blocks at the far edge are padded to it
	Type     Type       // of one value
	Channels int        // values per voxel, interleaved: the channel is the fastest axis
	Origin   Vec        // position of voxel 0,0,0 in the dataset, in voxels of this mag
	Spacing  [3]float64 // nm per voxel of this mag; 0 = unknown
}

// ErrTooLarge says that an array has more bytes than a file can have (2^63 − 1).
var ErrTooLarge = errors.New("more than 2^63 − 1 bytes")

// Validate reports whether the grid is one that can be computed with: every extent
// at least 1, and all byte counts below 2^63.
func (g Grid) Validate() error {
	if !g.Type.Valid() || g.Channels < 1 {
		return fmt.Errorf("grid of %d × %v values a voxel", g.Channels, g.Type)
	}
	for axis, name := range [...]string{"x", "y", "z"} {
		if g.Size[axis] < 1 || g.Block[axis] < 1 {
			return fmt.Errorf("grid of %v voxels in blocks of %v: empty on %s", g.Size, g.Block, name)
		}
		// The last blocks stick out of Size; their far edge must be countable too.
		if g.Size[axis] > math.MaxInt-g.Block[axis] {
			return fmt.Errorf("grid of %v voxels in blocks of %v: %w on %s", g.Size, g.Block, ErrTooLarge, name)
		}
	}
	if _, err := product(g.Type.Size(), g.Channels, g.Block[0], g.Block[1], g.Block[2]); err != nil {
		return fmt.Errorf("block of %v voxels of %d × %v: %w", g.Block, g.Channels, g.Type, err)
	}
	if _, err := product(g.Type.Size(), g.Channels, g.Size[0], g.Size[1], g.Size[2]); err != nil {
		return fmt.Errorf("array of %v voxels of %d × %v: %w", g.Size, g.Channels, g.Type, err)
	}
	return nil
}

// VoxelBytes returns the bytes of one voxel, all channels.
func (g Grid) VoxelBytes() int { return g.Type.Size() * g.Channels }

// BlockBytes returns the bytes of one decoded block.
func (g Grid) BlockBytes() int { return g.VoxelBytes() * g.Block[0] * g.Block[1] * g.Block[2] }

// Bytes returns the bytes of the whole array laid flat. The grid must be valid.
func (g Grid) Bytes() int64 {
	return int64(g.VoxelBytes()) * int64(g.Size[0]) * int64(g.Size[1]) * int64(g.Size[2])
}

// Blocks returns how many blocks cover the array on each axis.
func (g Grid) Blocks() Vec { return g.Size.CeilDiv(g.Block) }

// BlockBox returns the voxels of block b, cut off at the array's far edge.
func (g Grid) BlockBox(b Vec) Box {
	lo := b.Mul(g.Block)
	return Box{lo, lo.Add(g.Block).Min(g.Size)}
}

// product multiplies numbers ≥ 1 and fails where the result does not fit an int64.
func product(factors ...int) (int64, error) {
	p := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, ErrTooLarge
		}
		p = lo
	}
	return int64(p), nil
}
