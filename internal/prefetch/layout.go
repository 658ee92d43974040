package prefetch

import (
	"math"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/volume"
)

// layout cuts an array into slabs: layer by layer of blocks, each into parts of some rows of blocks. Slabs are numbered in the
// order in which a reader first reaches them.
type layout struct {
	array  *flat.Array
	blocks volume.Box // of the array
	rows   int        // of blocks in a slab
	layers int        // of blocks in a slab: 1 unless the slab is all of the array
}

// newLayout makes slabs of whole layers.
func newLayout(a *flat.Array) layout {
	blocks := a.Blocks()
	return layout{array: a, blocks: blocks, rows: blocks.Size()[1], layers: 1}
}

// whole returns the layout of one slab.
func (l layout) whole() layout {
	l.rows, l.layers = l.allRows(), l.blocks.Size()[2]
	return l
}

// allRows returns how many rows of blocks a layer has.
func (l layout) allRows() int { return l.blocks.Size()[1] }

// parts returns how many slabs a layer is cut into.
func (l layout) parts() int { return (l.allRows() + l.rows - 1) / l.rows }

// count returns how many slabs there are.
func (l layout) count() int { return l.parts() * ((l.blocks.Size()[2] + l.layers - 1) / l.layers) }

// tooMuch is more memory than there is; twice as much is still a number.
const tooMuch = math.MaxInt64 / 4

// slabBytes returns the decoded bytes of the largest slab, or tooMuch: boxes can have any size.
func (l layout) slabBytes() int64 { return l.times(int64(l.array.Grid().BlockBytes())) }

// pairBytes returns the memory for the slab that is read and the next one.
func (l layout) pairBytes() int64 { return int64(min(2, l.count())) * l.memory() }

// memory returns the memory that a slab takes.
func (l layout) memory() int64 {
	// The memory of a block is whole pages, and there is what the cache knows of it.
	const page, known = 4096, 256
	size := int64(l.array.Grid().BlockBytes())
	if size > page {
		size = (size + page - 1) / page * page
	}
	return l.times(size + known)
}

// times returns size for each block of a slab, or tooMuch.
func (l layout) times(size int64) int64 {
	for _, n := range [...]int{l.blocks.Size()[0], min(l.rows, l.allRows()), l.layers} {
		if int64(n) > tooMuch/size {
			return tooMuch
		}
		size *= int64(n)
	}
	return size
}

// index returns the number of the slab that has the byte at off.
func (l layout) index(off int64) int {
	y, z := l.array.RowAt(off)
	b := volume.Vec{1: y, 2: z}.Div(l.array.Grid().Block).Sub(l.blocks.Min)
	return b[2]/l.layers*l.parts() + b[1]/l.rows
}

// slabBlocks returns the blocks of slab i.
func (l layout) slabBlocks(i int) volume.Box {
	part, layer := i%l.parts(), i/l.parts()
	b := l.blocks
	b.Min[1] += part * l.rows
	b.Max[1] = min(b.Min[1]+l.rows, b.Max[1])
	b.Min[2] += layer * l.layers
	b.Max[2] = min(b.Min[2]+l.layers, b.Max[2])
	return b
}

// slabBox returns the voxels of the array that slab i is for.
func (l layout) slabBox(i int) volume.Box {
	blocks, side := l.slabBlocks(i), l.array.Grid().Block
	return volume.Box{Min: blocks.Min.Mul(side), Max: blocks.Max.Mul(side)}.Intersect(l.array.Box())
}

// validBlocks returns the blocks of slab i that have valid voxels of the array.
func (l layout) validBlocks(i int) volume.Box {
	valid, side := l.slabBox(i).Intersect(l.array.Valid()), l.array.Grid().Block
	if valid.Empty() {
		return volume.Box{}
	}
	return volume.Box{Min: valid.Min.Div(side), Max: valid.Max.CeilDiv(side)}
}

// layer returns the number of the first slab of the layer that has slab i.
func (l layout) layer(i int) int { return i - i%l.parts() }
