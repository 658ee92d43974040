package diff

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// cellsOf yields the cells of a box that may differ, z slowest. A bounding box may have any size: of a large one, these
// are the cells with a cube of either side. An error is the last item.
func (c *comparer) cellsOf(ctx context.Context, all volume.Box) iter.Seq2[volume.Vec, error] {
	return func(yield func(volume.Vec, error) bool) {
		if isFew(all, c.cells) {
			for at := range all.All() {
				if !yield(at, nil) {
					return
				}
			}
			return
		}
		stored := map[volume.Vec]bool{}
		for _, s := range []*side{c.a, c.b} {
			if err := c.addStored(ctx, s, stored); err != nil {
				yield(volume.Vec{}, err)
				return
			}
		}
		sorted := make([]volume.Vec, 0, len(stored))
		for at := range stored {
			sorted = append(sorted, at)
		}
		slices.SortFunc(sorted, func(a, b volume.Vec) int {
			return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
		})
		for _, at := range sorted {
			if !yield(at, nil) {
				return
			}
		}
	}
}

// isFew reports whether a box has at most n positions. Their number may not fit an int.
func isFew(b volume.Box, n int) bool {
	size := b.Size()
	return float64(size[0])*float64(size[1])*float64(size[2]) <= float64(n)
}

// addStored adds the cells with voxels of the cubes of a side.
func (c *comparer) addStored(ctx context.Context, s *side, to map[volume.Vec]bool) error {
	g, bounds := s.mosaic.Cube(), s.mosaic.Bounds()
	for cube, err := range volume.AllCubes(s.mag) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		box := g.CubeBox(cube).Intersect(bounds)
		if box.Empty() {
			continue
		}
		cells := box.Sub(c.origin).Div(c.unit).Div(volume.Cube(c.cell))
		if !isFew(cells, c.stored) {
			return c.tooMany()
		}
		for at := range cells.All() {
			if to[at] = true; len(to) > c.stored {
				return c.tooMany()
			}
		}
	}
	return nil
}

func (c *comparer) tooMany() error {
	return fmt.Errorf("box %v: expected at most %d parts of %v voxels with cubes, found more", c.bounds, c.stored,
		c.unit.Mul(volume.Cube(c.cell)))
}
