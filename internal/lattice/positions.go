package lattice

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/wkwfs/wkwfs/volume"
)

// MaxPositions limits a set of positions, to 32 MiB. A mag of more chunks has no list of them in memory.
const MaxPositions = 1 << 22

// TooManyError is the error for a mag of more chunks than are listed in memory. All of them can be opened, and walked.
type TooManyError struct{ Limit int }

func (e TooManyError) Error() string { return fmt.Sprintf("more than %d chunks", e.Limit) }

// IsTooMany reports whether an error is a TooManyError.
func IsTooMany(err error) bool {
	_, ok := errors.AsType[TooManyError](err)
	return ok
}

// Positions is a set of chunks of a lattice. It takes 8 bytes per chunk. It is immutable.
type Positions struct {
	Lattice
	sorted []uint64 // raster numbers, rising
}

// NewPositions returns the set of chunks with the raster numbers in list. It takes ownership of list.
func NewPositions(l Lattice, list []uint64) Positions {
	slices.Sort(list)
	return Positions{l, slices.Compact(list)}
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
