package prefetch

import (
	"math"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/volume"
)

// layout cuts an array into parts: slabs, each cut into groups of rows of blocks. Parts have numbers, in the order in
// which a sequential reader first reaches them. A portion is a part, or several slabs.
type layout struct {
	*limits
	array  *flat.Array
	blocks volume.Box // that overlap the array
	rows   int        // rows of blocks in a part
}

// newLayout returns the layout in which each slab is a part.
func newLayout(a *flat.Array, l *limits) layout {
	blocks := a.Blocks()
	return layout{limits: l, array: a, blocks: blocks, rows: blocks.Size()[1]}
}

// slabRows returns the number of rows of blocks in a slab.
func (l layout) slabRows() int { return l.blocks.Max[1] - l.blocks.Min[1] }

// slabs returns the number of slabs.
func (l layout) slabs() int { return l.blocks.Max[2] - l.blocks.Min[2] }

// perSlab returns the number of parts that a slab is cut into.
func (l layout) perSlab() int { return (l.slabRows() + l.rows - 1) / l.rows }

// count returns the number of parts.
func (l layout) count() int { return l.perSlab() * l.slabs() }

// slabStart returns the number of the first part in the slab of part i.
func (l layout) slabStart(i int) int { return i - i%l.perSlab() }

// at returns the number of the part that contains the byte at off.
func (l layout) at(off int64) int {
	y, z := l.array.RowAt(off)
	b := volume.Vec{1: y, 2: z}.Div(l.array.Grid().Block).Sub(l.blocks.Min)
	return b[2]*l.perSlab() + b[1]/l.rows
}

// thick returns the number of slabs of portions that have several: those of a cell, or of several cells if slabs are
// thin. So many thin slabs have up to thickPortion bytes, and up to thickPlanes planes.
func (l layout) thick() int {
	n := min(l.thickPortion/max(l.bytes(), 1), int64(l.thickPlanes/l.array.Grid().Block[2]))
	return max(int(n)/l.cell[2], 1) * l.cell[2]
}

// part returns part i, or with more than one slab all of them from this one on.
func (l layout) part(i, slabs int) part {
	inSlab, slab := i%l.perSlab(), i/l.perSlab()
	b := l.blocks
	b.Min[1] += inSlab * l.rows
	b.Max[1] = min(b.Min[1]+l.rows, b.Max[1])
	b.Min[2] += slab
	b.Max[2] = min(b.Min[2]+slabs, b.Max[2])
	p := partOf(l.array, b.Mul(l.array.Grid().Block).Intersect(l.array.Box()))
	p.number, p.count = i, b.Size()[2]
	return p
}

// unlimited stands for more memory than any computer has. Twice this number does not overflow.
const unlimited = math.MaxInt64 / 4

// arrayBytes returns the size of the decoded blocks of the array, in bytes, or unlimited.
func (l layout) arrayBytes() int64 {
	return product(int64(l.array.Grid().BlockBytes()), l.blocks.Size())
}

// bytes returns the size of the decoded blocks of the largest part, in bytes. It is unlimited for a part that is too
// large: users name boxes of any size.
func (l layout) bytes() int64 { return l.perPart(int64(l.array.Grid().BlockBytes()), 1) }

// memory returns the memory for the largest portion of some slabs, in bytes, or unlimited.
func (l layout) memory(slabs int) int64 {
	return l.perPart(cache.BlockMemory(l.array.Grid().BlockBytes()), min(slabs, l.slabs()))
}

// windowMemory returns the memory for the portion that is read and the next one, in bytes.
func (l layout) windowMemory(slabs int) int64 {
	portions := l.perSlab() * ((l.slabs() + slabs - 1) / slabs)
	return int64(min(2, portions)) * l.memory(slabs)
}

// perPart returns size times the number of blocks of the largest part, for some slabs.
func (l layout) perPart(size int64, slabs int) int64 {
	return product(size, volume.Vec{l.blocks.Size()[0], min(l.rows, l.slabRows()), slabs})
}

// product returns size times the product of n, or unlimited.
func product(size int64, n volume.Vec) int64 {
	for _, n := range n {
		if n > 0 && size > unlimited/int64(n) {
			return unlimited
		}
		size *= int64(n)
	}
	return size
}

// part is a box of an array. Each of its planes is one run of bytes of the array.
type part struct {
	array         *flat.Array
	number, count int        // of the first part of the layout, and how many it consists of
	box           volume.Box // in voxels of the grid
	blocks        volume.Box // those that contain valid voxels
}

// partOf returns the part of an array in a box.
func partOf(a *flat.Array, box volume.Box) part {
	p := part{array: a, box: box}
	if valid := box.Intersect(a.Valid()); !valid.Empty() {
		p.blocks = valid.Div(a.Grid().Block)
	}
	return p
}

// has reports whether the part has part i of the layout.
func (p part) has(i int) bool { return p.number <= i && i < p.number+p.count }

// memory returns the memory for the blocks of the part, in bytes, or unlimited.
func (p part) memory() int64 {
	return product(cache.BlockMemory(p.array.Grid().BlockBytes()), p.blocks.Size())
}

// planes returns the number of planes.
func (p part) planes() int64 { return int64(p.box.Size()[2]) }

// run returns the bytes of the array that are in a plane of the part. Planes are numbered from 0.
func (p part) run(plane int64) span.Span {
	start := p.array.Offset(p.box.Min) + plane*p.array.PlaneBytes()
	return span.Of(start, p.array.RowBytes()*int64(p.box.Size()[1]))
}

// runAt returns the number of the plane that has the byte at off of the array, and the part of its run from off on.
// That is empty if the byte is not in the part.
func (p part) runAt(off int64) (plane int64, rest span.Span) {
	plane = off/p.array.PlaneBytes() - p.array.Offset(p.box.Min)/p.array.PlaneBytes()
	if plane < 0 || plane >= p.planes() || !p.run(plane).Contains(off) {
		return plane, span.Span{}
	}
	return plane, p.run(plane).From(off)
}

// blocksOf returns which of the blocks of the part a run of one of its planes needs: from first to last in their order.
// There are none if first is larger.
func (p part) blocksOf(run span.Span) (first, last int) {
	side, size := p.array.Grid().Block, p.blocks.Size()
	y, z := p.array.RowAt(run.Start())
	lastY, _ := p.array.RowAt(run.End() - 1)
	from, to := volume.Vec{1: y, 2: z}.Div(side).Sub(p.blocks.Min), volume.Vec{1: lastY}.Div(side).Sub(p.blocks.Min)
	from[1], to[1] = max(from[1], 0), min(to[1], size[1]-1)
	if from[1] > to[1] || from[2] < 0 || from[2] >= size[2] {
		return 0, -1
	}
	row := size[1] * from[2]
	return (row + from[1]) * size[0], (row+to[1]+1)*size[0] - 1
}
