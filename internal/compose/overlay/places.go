package overlay

import (
	"cmp"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// places says which parts may overlap with a block of a cube: there may be 32,768 parts, and as many blocks.
type places struct {
	grid  volume.Grid
	small []place // in the order of their blocks
	large []int   // parts that overlap with many blocks
}

// place is a part that overlaps with a block.
type place struct{ block, part int }

// fewBlocks is the number of blocks with which a part overlaps that is listed for each of them.
const fewBlocks = 8

func placesOf(parts cell, g volume.Grid) places {
	p := places{grid: g}
	count := g.Blocks()
	cube := volume.Box{Max: count.Mul(g.Block)}
	for i, part := range parts {
		blocks := part.box.Sub(g.Origin).Intersect(cube).Div(g.Block)
		if size := blocks.Size(); size[0]*size[1]*size[2] > fewBlocks {
			p.large = append(p.large, i)
			continue
		}
		for at := range blocks.All() {
			p.small = append(p.small, place{at.Index(count), i})
		}
	}
	slices.SortFunc(p.small, func(a, b place) int { return cmp.Or(a.block-b.block, a.part-b.part) })
	return p
}

// of calls found for each part that may overlap with a block.
func (p *places) of(at volume.Vec, found func(part int)) {
	block := at.Index(p.grid.Blocks())
	first, _ := slices.BinarySearchFunc(p.small, block, func(e place, block int) int { return e.block - block })
	for _, e := range p.small[first:] {
		if e.block != block {
			break
		}
		found(e.part)
	}
	for _, part := range p.large {
		found(part)
	}
}
