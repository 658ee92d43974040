package volume

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Grid is the geometry of an array that is stored in blocks. Grids may be compared with ==.
type Grid struct {
	Size     Vec        // extent in voxels
	Block    Vec        // extent of a block in voxels; blocks at the far edge are padded to it
	Type     Type       // of one value
	Channels int        // values per voxel, adjacent in memory: the channel is the fastest axis
	Origin   Vec        // position of the first voxel in the dataset, in voxels of this mag
	Spacing  [3]float64 // extent of a voxel of this mag in nm; 0 if unknown
}

// ErrTooLarge is the error for an array with more bytes than a file can have.
var ErrTooLarge = errors.New("more than 2^63 − 1 bytes")

// Validate returns an error if the Type is not valid, if an extent or Channels is less than 1, or if
// the bytes of a block or of the array do not fit an int64. For a valid grid, no method overflows.
func (g Grid) Validate() error {
	if !g.Type.Valid() || g.Channels < 1 {
		return fmt.Errorf("grid of %d × %v values a voxel", g.Channels, g.Type)
	}
	for axis, name := range [...]string{"x", "y", "z"} {
		if g.Size[axis] < 1 || g.Block[axis] < 1 {
			return fmt.Errorf("grid of %v voxels in blocks of %v: empty on %s", g.Size, g.Block, name)
		}
		// The last block ends after Size. Its end must fit an int too.
		if g.Size[axis] > math.MaxInt-g.Block[axis] {
			return fmt.Errorf("grid of %v voxels in blocks of %v: %w on %s", g.Size, g.Block, ErrTooLarge, name)
		}
	}
	if err := checkProduct(g.Type.Size(), g.Channels, g.Block[0], g.Block[1], g.Block[2]); err != nil {
		return fmt.Errorf("block of %v voxels of %d × %v: %w", g.Block, g.Channels, g.Type, err)
	}
	if err := checkProduct(g.Type.Size(), g.Channels, g.Size[0], g.Size[1], g.Size[2]); err != nil {
		return fmt.Errorf("array of %v voxels of %d × %v: %w", g.Size, g.Channels, g.Type, err)
	}
	return nil
}

// VoxelBytes returns the bytes of one voxel with all its channels.
func (g Grid) VoxelBytes() int { return g.Type.Size() * g.Channels }

// BlockBytes returns the bytes of one decoded block.
func (g Grid) BlockBytes() int { return g.VoxelBytes() * g.Block[0] * g.Block[1] * g.Block[2] }

// Bytes returns the bytes of the whole array without padding. The grid must be valid.
func (g Grid) Bytes() int64 {
	return int64(g.VoxelBytes()) * int64(g.Size[0]) * int64(g.Size[1]) * int64(g.Size[2])
}

// Blocks returns the number of blocks on each axis.
func (g Grid) Blocks() Vec { return g.Size.CeilDiv(g.Block) }

// BlockBox returns the voxels of block b without padding, relative to Origin.
func (g Grid) BlockBox(b Vec) Box {
	lo := b.Mul(g.Block)
	return Box{lo, lo.Add(g.Block).Min(g.Size)}
}

// CubeBox returns the voxels of cube c, in absolute voxels of the mag. g is the geometry of cube 0,0,0, as
// [Mag].CubeGrid returns it.
func (g Grid) CubeBox(c Vec) Box {
	return c.BoxOfOne().Mul(g.Size).Add(g.Origin)
}

// checkProduct fails if the product of numbers ≥ 1 does not fit an int64.
func checkProduct(factors ...int) error {
	p := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo > math.MaxInt64 {
			return ErrTooLarge
		}
		p = lo
	}
	return nil
}
