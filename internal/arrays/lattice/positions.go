package lattice

import (
	"slices"
	"sort"

	"github.com/wkwfs/wkwfs/volume"
)

// Positions is a set of chunks of a lattice. It takes 8 bytes per chunk. It is immutable.
type Positions struct {
	Lattice
	sorted []uint64 // raster numbers, rising
	share  *share   // of a budget; nil if it has none
}

// NewPositions returns the set of chunks with the raster numbers in list. It takes ownership of list.
func NewPositions(l Lattice, list []uint64) Positions {
	slices.Sort(list)
	return Positions{Lattice: l, sorted: slices.Compact(list)}
}

// Release gives the part of the set back to its budget, when the owner of the set drops it, so that the next one fits
// in. Without it, the part is given back when nothing refers to the set. Others that use the set go on.
func (p Positions) Release() {
	if p.share != nil {
		p.share.release()
	}
}

// All yields the chunks, z slowest.
func (p Positions) All(yield func(volume.Vec) bool) {
	for _, n := range p.sorted {
		if !yield(p.Unraster(n)) {
			return
		}
	}
}

// Contains reports whether chunk c is in the set.
func (p Positions) Contains(c volume.Vec) bool {
	_, found := slices.BinarySearch(p.sorted, p.Raster(c))
	return found
}

// Level lists in rising order, without arguments, the z of all chunks. With z it lists the y of the chunks at z, and
// with z and y the x. It returns false if there is no such chunk.
func (p Positions) Level(zy ...int) ([]int, bool) {
	low := [3]int{p.bits[0] + p.bits[1], p.bits[0], 0} // the bits below z, y and x
	list := p.sorted
	if depth := len(zy); depth > 0 {
		above := volume.Vec{2: zy[0]}
		if depth > 1 {
			above[1] = zy[1]
		}
		if !above.In(p.Size) {
			return nil, false
		}
		prefix, shift := p.Raster(above)>>low[depth-1], low[depth-1]
		first := sort.Search(len(list), func(i int) bool { return list[i]>>shift >= prefix })
		list = list[first:]
		list = list[:sort.Search(len(list), func(i int) bool { return list[i]>>shift > prefix })]
		if len(list) == 0 {
			return nil, false
		}
	}
	shift, width := low[len(zy)], p.bits[2-len(zy)]
	var found []int
	for len(list) > 0 {
		n := list[0] >> shift
		found = append(found, int(n&(1<<width-1)))
		list = list[sort.Search(len(list), func(i int) bool { return list[i]>>shift > n }):]
	}
	return found, true
}
