package importer

import (
	"math"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// halves are the two sides of a box that is cut.
type halves struct {
	lower, upper volume.Box
	parts        int     // number of parts that the lower side is cut into
	heaviest     float64 // weight of the heaviest part of both sides
}

// goodCut is how much heavier than an equal part the heaviest part may be, so that no other cut is looked for. Cuts on
// x and y would make shorter runs of voxels in a file.
const goodCut = 1.01

// bestHalves returns halves of a box for n parts: those on the first axis on which they are good, else those of which
// the heaviest part is the lightest. n is from 2 to the number of cells.
func (c *cutter) bestHalves(box volume.Box, axes []int, n int) halves {
	best := halves{heaviest: math.Inf(1)}
	good := c.weight(box) / float64(n) * goodCut
	for _, axis := range axes {
		if h := c.halvesOn(box, axes, axis, n, good); h.heaviest < best.heaviest {
			best = h
		}
		if best.heaviest <= good {
			break
		}
	}
	return best
}

// maxTries is the number of ways to divide parts between two sides that halvesOn tries.
const maxTries = 64

// halvesOn returns good halves of a box that is cut on an axis, else the best it finds. A side has at least as many
// cells as parts. Near the middle there may be no such halves. Then there are some with a multiple of the cells that
// all other axes have together.
func (c *cutter) halvesOn(box volume.Box, axes []int, axis, n int, good float64) halves {
	best := halves{heaviest: math.Inf(1)}
	others := c.cells(box, slices.DeleteFunc(slices.Clone(axes), func(other int) bool { return other == axis }))
	try := func(parts int) {
		if h, ok := c.halvesWith(box, axis, others, n, parts); ok && h.heaviest < best.heaviest {
			best = h
		}
	}
	try(n / 2)
	for i := 1; i <= maxTries/2 && best.heaviest > good; i++ {
		try(n/2 + i)
		try(n/2 - i)
	}
	try(n / 2 / others * others)
	try((n/2/others + 1) * others)
	return best
}

// halvesWith returns halves of which the lower one has a number of parts. It fails if a side would have fewer cells
// than parts. Of more than eight parts, each side has a third or more, so that few cuts lead to each part.
func (c *cutter) halvesWith(box volume.Box, axis, others, n, parts int) (halves, bool) {
	least := 1
	if n > 8 {
		least = (n + 2) / 3
	}
	l := c.line(box, axis)
	low, high := (parts+others-1)/others, l.cells()-(n-parts+others-1)/others
	if parts < least || n-parts < least || low > high {
		return halves{}, false
	}
	at := l.at(l.nearest(parts, n, low, high))
	h := halves{lower: box, upper: box, parts: parts}
	h.lower.Max[axis], h.upper.Min[axis] = at, at
	h.heaviest = max(c.heaviest(h.lower, parts), c.heaviest(h.upper, n-parts))
	return h, true
}

// fewParts is the number of parts up to which heaviest cuts them.
const fewParts = 16

// heaviest returns the weight of the heaviest of n parts of a box. If they are few, it is that of the parts that
// appendCut makes. Otherwise it is that of equal parts.
func (c *cutter) heaviest(box volume.Box, n int) float64 {
	if n == 1 || n > fewParts {
		return c.weight(box) / float64(n)
	}
	key := c.keyOf(box, n)
	if w, ok := c.known[key]; ok {
		return w
	}
	axes := c.axesOf(box)
	w := c.weight(box)
	if len(axes) == 1 {
		l := c.line(box, axes[0])
		w = w / float64(l.all()) * float64(l.leastBound(n))
	} else {
		w = c.bestHalves(box, axes, n).heaviest
	}
	c.known[key] = w
	return w
}

// cutKey is the same for all boxes that are cut into n parts in the same way.
type cutKey struct {
	volume.Box
	n int
}

// keyOf returns the key of a box: the box moved to 0 by whole cells, on all axes on which only the size counts.
func (c *cutter) keyOf(box volume.Box, n int) cutKey {
	for axis := range 3 {
		if axis == 2 && c.sums != nil {
			continue
		}
		moved := box.Min[axis] / c.cell[axis] * c.cell[axis]
		box.Min[axis] -= moved
		box.Max[axis] -= moved
	}
	return cutKey{box, n}
}
