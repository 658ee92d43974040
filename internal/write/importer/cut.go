package importer

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/wkwfs/wkwfs/internal/jobs/batch"
	"github.com/wkwfs/wkwfs/volume"
)

// cutter cuts the box of a layer into boxes with about equal stored bytes of the input. It cuts between cells: cubes of
// the coarsest mag, of which those at the faces of the box may be smaller. The bytes of a plane are taken to be evenly
// spread over it, so the weight of a box is the stored bytes of its planes times the voxels that it has of a plane.
//
// The boxes are the same on all machines: integers are added, and floats only multiplied, divided and compared.
type cutter struct {
	box   volume.Box
	cell  volume.Vec // sides, in voxels; a cut is at a multiple of them
	axes  []int      // that may be cut; the first ones are preferred
	sums  []int64    // stored bytes before each plane of the box, and of all planes; nil: planes have equal bytes
	known map[cutKey]float64
}

// newCutter returns a cutter of a box. stored has the stored bytes of each plane, or is nil if all planes have as many.
// A plane without bytes counts as one byte.
func newCutter(box volume.Box, cell volume.Vec, axes []int, stored []int64) *cutter {
	c := &cutter{box: box, cell: cell, axes: axes, known: map[cutKey]float64{}}
	if stored != nil {
		c.sums = make([]int64, len(stored)+1)
	}
	for z, n := range stored {
		c.sums[z+1] = c.sums[z] + min(max(n, 1), math.MaxInt64/int64(len(stored)))
	}
	return c
}

// cut returns n boxes. They are disjoint and have all voxels. If there are fewer cells than n, the last boxes are
// empty.
func (c *cutter) cut(n int) []volume.Box {
	boxes := c.appendCut(make([]volume.Box, 0, n), c.box, n)
	for len(boxes) < n {
		boxes = append(boxes, volume.Box{Min: c.box.Min, Max: c.box.Min})
	}
	return boxes
}

// appendCut appends n boxes that have all voxels of a box, or fewer if there are fewer cells. On a single axis, they
// are as equal as they can be. Otherwise, it cuts the box in two, and then each side.
func (c *cutter) appendCut(boxes []volume.Box, box volume.Box, n int) []volume.Box {
	axes := c.axesOf(box)
	n = min(n, c.cells(box, axes))
	switch {
	case n == 1:
		return append(boxes, box)
	case len(axes) == 1:
		axis := axes[0]
		l := c.line(box, axis)
		starts := l.cut(n)
		for i := range n {
			part := box
			part.Min[axis], part.Max[axis] = l.at(starts[i]), l.at(starts[i+1])
			boxes = append(boxes, part)
		}
		return boxes
	}
	h := c.bestHalves(box, axes, n)
	return c.appendCut(c.appendCut(boxes, h.lower, h.parts), h.upper, n-h.parts)
}

// axesOf returns the axes on which a box can be cut.
func (c *cutter) axesOf(box volume.Box) (axes []int) {
	for _, axis := range c.axes {
		if c.line(box, axis).cells() > 1 {
			axes = append(axes, axis)
		}
	}
	return axes
}

// line returns the extent of a box on an axis. Weights on z are stored bytes, and voxels on the other axes.
func (c *cutter) line(box volume.Box, axis int) line {
	start := c.box.Min[axis]
	before := func(at int) int64 { return int64(at - start) }
	if axis == 2 && c.sums != nil {
		before = func(at int) int64 { return c.sums[at-start] }
	}
	return line{box.Min[axis], box.Max[axis], c.cell[axis], before}
}

// cells returns the number of cells of a box on some axes together, or MaxParts if there are more.
func (c *cutter) cells(box volume.Box, axes []int) int {
	n := 1
	for _, axis := range axes {
		n = min(n*min(c.line(box, axis).cells(), batch.MaxParts), batch.MaxParts)
	}
	return n
}

// weight returns the weight of a box.
func (c *cutter) weight(box volume.Box) float64 {
	size := box.Size()
	return float64(c.line(box, 2).all()) * float64(size[1]) * float64(size[0])
}

// fingerprint identifies how a layer was cut.
func fingerprint(boxes []volume.Box) string {
	sum := sha256.New()
	for _, box := range boxes {
		fmt.Fprintln(sum, box.Min, box.Max)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}
