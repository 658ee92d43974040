package prefetch

import (
	"math"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// layout cuts an array into portions: slabs, each cut into groups of rows of blocks. Portions are numbered in
// the order in which a sequential reader first reaches them.
type layout struct {
	*limits
	array  *flat.Array
	blocks volume.Box // that overlap the array
	rows   int        // rows of blocks in a portion
	slabs  int        // slabs in a portion: 1, those of a cell, or all of them
}

// newLayout returns the layout in which each slab is a portion.
func newLayout(a *flat.Array, l *limits) layout {
	blocks := a.Blocks()
	return layout{limits: l, array: a, blocks: blocks, rows: blocks.Size()[1], slabs: 1}
}

// arrayBytes returns the size of the decoded blocks of the array, in bytes, or unlimited.
func (l layout) arrayBytes() int64 {
	l.rows, l.slabs = l.slabRows(), l.blocks.Size()[2]
	return l.portionBytes()
}

// thick returns the layout whose portions have as many slabs as a cell.
func (l layout) thick() layout {
	l.slabs = min(l.cell[2], l.blocks.Size()[2])
	return l
}

// slabRows returns the number of rows of blocks in a slab.
func (l layout) slabRows() int { return l.blocks.Size()[1] }

// portionsPerSlab returns the number of portions that a slab is cut into.
func (l layout) portionsPerSlab() int { return (l.slabRows() + l.rows - 1) / l.rows }

// count returns the number of portions.
func (l layout) count() int {
	return l.portionsPerSlab() * ((l.blocks.Size()[2] + l.slabs - 1) / l.slabs)
}

// unlimited stands for more memory than any computer has. Twice this number does not overflow.
const unlimited = math.MaxInt64 / 4

// portionBytes returns the size of the decoded blocks of the largest portion, in bytes. It is unlimited for a portion that is
// too large: users name boxes of any size.
func (l layout) portionBytes() int64 { return l.perPortion(int64(l.array.Grid().BlockBytes())) }

// portionMemory returns the memory for the largest portion, in bytes.
func (l layout) portionMemory() int64 {
	return l.perPortion(cache.BlockMemory(l.array.Grid().BlockBytes()))
}

// windowMemory returns the memory for the portion that is read and the next one, in bytes.
func (l layout) windowMemory() int64 { return int64(min(2, l.count())) * l.portionMemory() }

// perPortion returns size times the number of blocks of the largest portion, or unlimited.
func (l layout) perPortion(size int64) int64 {
	for _, n := range [...]int{l.blocks.Size()[0], min(l.rows, l.slabRows()), l.slabs} {
		if int64(n) > unlimited/size {
			return unlimited
		}
		size *= int64(n)
	}
	return size
}

// portionAt returns the number of the portion that contains the byte at off.
func (l layout) portionAt(off int64) int {
	y, z := l.array.RowAt(off)
	b := volume.Vec{1: y, 2: z}.Div(l.array.Grid().Block).Sub(l.blocks.Min)
	return b[2]/l.slabs*l.portionsPerSlab() + b[1]/l.rows
}

// portionBlocks returns the blocks of portion i.
func (l layout) portionBlocks(i int) volume.Box {
	inSlab, slab := i%l.portionsPerSlab(), i/l.portionsPerSlab()
	b := l.blocks
	b.Min[1] += inSlab * l.rows
	b.Max[1] = min(b.Min[1]+l.rows, b.Max[1])
	b.Min[2] += slab * l.slabs
	b.Max[2] = min(b.Min[2]+l.slabs, b.Max[2])
	return b
}

// portionBox returns the part of the array that portion i covers, in voxels of the grid.
func (l layout) portionBox(i int) volume.Box {
	blocks, side := l.portionBlocks(i), l.array.Grid().Block
	return blocks.Mul(side).Intersect(l.array.Box())
}

// validBlocks returns the blocks of portion i that contain valid voxels of the array.
func (l layout) validBlocks(i int) volume.Box { return validBlocksIn(l.array, l.portionBox(i)) }

// validBlocksIn returns the blocks of a part of an array that contain valid voxels.
func validBlocksIn(a *flat.Array, part volume.Box) volume.Box {
	valid := part.Intersect(a.Valid())
	if valid.Empty() {
		return volume.Box{}
	}
	return valid.Div(a.Grid().Block)
}

// slabStart returns the number of the first portion in the slab of portion i.
func (l layout) slabStart(i int) int { return i - i%l.portionsPerSlab() }
