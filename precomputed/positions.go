package precomputed

import (
	"slices"
	"sort"

	"github.com/wkwfs/wkwfs/volume"
)

// positions is a set of chunks of a lattice, 8 bytes each. It is never changed.
type positions struct {
	lattice
	sorted []uint64 // raster numbers, rising
}

// newPositions takes over the list of raster numbers.
func newPositions(l lattice, list []uint64) positions {
	slices.Sort(list)
	return positions{l, slices.Compact(list)}
}

func (p positions) contains(c volume.Vec) bool {
	_, found := slices.BinarySearch(p.sorted, p.raster(c))
	return found
}

// level lists, in rising order, the z of all chunks or, below a z, the y, or, below z
// and y, the x; false where there is no chunk there.
func (p positions) level(zy ...int) ([]int, bool) {
	low := [3]int{p.bits[0] + p.bits[1], p.bits[0], 0} // the bits below z, y, x
	list := p.sorted
	if depth := len(zy); depth > 0 {
		above := volume.Vec{2: zy[0]}
		if depth > 1 {
			above[1] = zy[1]
		}
		if !above.In(p.size) {
			return nil, false
		}
		prefix, shift := p.raster(above)>>low[depth-1], low[depth-1]
		begin := sort.Search(len(list), func(i int) bool { return list[i]>>shift >= prefix })
		list = list[begin:]
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
