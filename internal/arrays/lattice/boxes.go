package lattice

import (
	"cmp"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// Boxes covers cells by boxes that have no other cells and do not overlap. Cells that are next to each other on x are
// in one box, then equal boxes next to each other on y, and on z. The boxes are in the order of their first cells, z
// slowest. Boxes sorts the cells, which are all different.
func Boxes(cells []volume.Vec) []volume.Box {
	slices.SortFunc(cells, compareCells)
	boxes := make([]volume.Box, 0, len(cells))
	for _, c := range cells {
		boxes = append(boxes, c.BoxOfOne())
	}
	for axis := range 3 {
		boxes = joined(boxes, axis)
	}
	slices.SortFunc(boxes, func(a, b volume.Box) int { return compareCells(a.Min, b.Min) })
	return boxes
}

func compareCells(a, b volume.Vec) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// joined joins boxes that continue each other on an axis and are equal on the others.
func joined(boxes []volume.Box, axis int) []volume.Box {
	others := [2]int{(axis + 1) % 3, (axis + 2) % 3}
	side := func(a, b volume.Box) int {
		for _, o := range others {
			if d := cmp.Or(cmp.Compare(a.Min[o], b.Min[o]), cmp.Compare(a.Max[o], b.Max[o])); d != 0 {
				return d
			}
		}
		return 0
	}
	slices.SortFunc(boxes,
		func(a, b volume.Box) int { return cmp.Or(side(a, b), cmp.Compare(a.Min[axis], b.Min[axis])) })
	out := boxes[:0]
	for _, b := range boxes {
		if last := len(out) - 1; last >= 0 && side(out[last], b) == 0 && out[last].Max[axis] == b.Min[axis] {
			out[last].Max[axis] = b.Max[axis]
			continue
		}
		out = append(out, b)
	}
	return out
}
