package view

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// cutting is how a flat file is cut into slabs: layer by layer, each into pieces of so many
// rows of blocks. Slabs are numbered in the order in which a reader first comes to them.
type cutting struct {
	flat   *Flat
	blocks volume.Box // that the file is made of
	rows   int        // of blocks in a slab; 0: not decided
}

func newCutting(f *Flat) cutting {
	return cutting{flat: f, blocks: volume.Box{Min: f.box.Min.Div(f.grid.Block), Max: f.box.Max.CeilDiv(f.grid.Block)}}
}

// all returns how many rows of blocks a layer has.
func (c cutting) all() int { return c.blocks.Size()[1] }

// pieces returns the number of slabs that a layer is cut into.
func (c cutting) pieces() int { return (c.all() + c.rows - 1) / c.rows }

// count returns the number of all slabs.
func (c cutting) count() int { return c.pieces() * c.blocks.Size()[2] }

// tooMuch is more memory than there is; twice as much is still a number.
const tooMuch = math.MaxInt64 / 4

// size returns the memory that the largest slab takes, or tooMuch. Boxes can have any size.
func (c cutting) size() int64 {
	size := int64(c.flat.grid.BlockBytes())
	if size < 1024 {
		size++ // for slab.there, which is next to nothing beside larger blocks
	}
	for _, n := range [...]int{c.blocks.Size()[0], min(c.rows, c.all())} {
		if int64(n) > tooMuch/size {
			return tooMuch
		}
		size *= int64(n)
	}
	return size
}

// slabs returns how many slabs there is to be memory for: the one that is read and the next.
func (c cutting) slabs() int64 { return int64(min(2, c.count())) }

// index returns the number of the slab that has the byte at off.
func (c cutting) index(off int64) int {
	f := c.flat
	v := volume.Vec{1: f.box.Min[1] + int(off%f.plane/f.row), 2: f.box.Min[2] + int(off/f.plane)}
	b := v.Div(f.grid.Block).Sub(c.blocks.Min)
	return b[2]*c.pieces() + b[1]/c.rows
}

// box returns what is in slab i, in voxels of the source.
func (c cutting) box(i int) volume.Box {
	piece, layer := i%c.pieces(), i/c.pieces()
	blocks := c.blocks
	blocks.Min[1] += piece * c.rows
	blocks.Max[1] = blocks.Min[1] + c.rows
	blocks.Min[2] += layer
	blocks.Max[2] = blocks.Min[2] + 1
	side := c.flat.grid.Block
	return volume.Box{Min: blocks.Min.Mul(side), Max: blocks.Max.Mul(side)}.Intersect(c.flat.box)
}
