package importer

import (
	"sort"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
)

// line is the extent of a box on one axis. It can be cut between its cells, which start at multiples of their side.
// Cells are numbered from 0. The first and the last one may be shorter than the others.
type line struct {
	from, to, side int // in voxels; 0 ≤ from < to
	// weight of all voxels below a position; it grows with the position, at least by 1 for each voxel
	before func(at int) int64
}

// cells returns the number of cells.
func (l line) cells() int { return (l.to-1)/l.side - l.from/l.side + 1 }

// at returns the position, in voxels, where cell k starts. After the last cell, it is the end of the line.
func (l line) at(k int) int { return min(max((l.from/l.side+k)*l.side, l.from), l.to) }

// weight returns the weight of cells k ≤ i < end.
func (l line) weight(k, end int) int64 { return l.before(l.at(end)) - l.before(l.at(k)) }

// all returns the weight of the line.
func (l line) all() int64 { return l.before(l.to) - l.before(l.from) }

// nearest returns the cell, from low to high, at which a cut has i/n of all weight below it as nearly as cells allow.
func (l line) nearest(i, n, low, high int) int {
	ideal := batch.Portion(l.all(), i, n)
	k := low + sort.Search(high-low, func(k int) bool { return l.weight(0, low+k) >= ideal })
	if k > low && ideal-l.weight(0, k-1) <= l.weight(0, k)-ideal {
		k--
	}
	return k
}

// cut cuts the line into n parts, of which the heaviest is as light as whole cells allow. Apart from that, each cut is
// as near as possible to where it is for equal parts. No part is empty: n is from 1 to the number of cells. cut returns
// the cells at which parts start, and the number of cells after the last one.
func (l line) cut(n int) []int {
	starts := make([]int, n+1)
	starts[n] = l.cells()
	bound := l.leastBound(n)
	earliest := l.earliest(n, bound)
	for i := 1; i < n; i++ {
		low := max(earliest[i], starts[i-1]+1)
		high := min(l.reach(starts[i-1], bound), starts[n]-(n-i))
		starts[i] = l.nearest(i, n, low, high)
	}
	return starts
}

// earliest returns the first cell at which each of n parts can start, so that it and the parts after it are not above a
// bound. It also returns the number of cells, as the start of part n.
func (l line) earliest(n int, bound int64) []int {
	starts := make([]int, n+1)
	starts[n] = l.cells()
	for i := n - 1; i > 0; i-- {
		end := starts[i+1]
		starts[i] = sort.Search(end, func(k int) bool { return l.weight(k, end) <= bound })
	}
	return starts
}

// leastBound returns the least weight with which n parts have all cells. n is at most the number of cells.
func (l line) leastBound(n int) int64 {
	low, high := batch.Portion(l.all(), 1, n), l.all()
	for low < high {
		middle := low + (high-low)/2
		if l.fits(n, middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// fits reports whether n parts of at most a weight have all cells.
func (l line) fits(n int, bound int64) bool {
	k, cells := 0, l.cells()
	for ; n > 0 && k < cells; n-- {
		next := l.reach(k, bound)
		if next == k {
			return false
		}
		k = next
	}
	return k == cells
}

// reach returns the last cell at which a part that starts at cell k and has at most a weight can end.
func (l line) reach(k int, bound int64) int {
	return k + sort.Search(l.cells()-k, func(i int) bool { return l.weight(k, k+i+1) > bound })
}
