package diff

import (
	"context"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/compose/overlay"
	"github.com/wkwfs/wkwfs/internal/read/mosaic"
	"github.com/wkwfs/wkwfs/volume"
)

// side is one of the two mags.
type side struct {
	mag    volume.Mag
	mosaic *mosaic.Mosaic
	blocks *cache.Source
	over   *overlay.Mag // if the mag is one; else nil
	below  *side        // of over
}

func newSide(m volume.Mag, c *cache.Cache) (*side, error) {
	s := &side{mag: m}
	if over, ok := m.(*overlay.Mag); ok {
		below, err := newSide(over.Below(), c)
		if err != nil {
			return nil, err
		}
		s.over, s.below = over, below
	}
	all, err := mosaic.New(m, false)
	if err != nil {
		s.close()
		return nil, err
	}
	all.Open()
	s.mosaic, s.blocks = all, c.Source(all)
	return s, nil
}

func (s *side) close() {
	if s.mosaic != nil {
		s.mosaic.Close()
		s.mosaic.CloseIdle()
	}
	if s.below != nil {
		s.below.close()
	}
}

// read reads a box.
func (s *side) read(ctx context.Context, box volume.Box, dst []byte) error {
	return s.mosaic.Flat(box).Fill(dst, 0, func(blocks []volume.Vec, copyBlock func(volume.Vec, []byte)) error {
		return s.blocks.Read(ctx, blocks, cache.Always, copyBlock)
	})
}

// touched is the boxes of blocks over each overlay of a side, from the top down.
type touched [][]volume.Box

// touchedIn finds the blocks over a side in a box.
func (s *side) touchedIn(box volume.Box) (t touched, err error) {
	for ; s.over != nil; s = s.below {
		over, err := s.over.Over(box)
		if err != nil {
			return nil, err
		}
		t = append(t, over)
	}
	return t, nil
}

// bare returns what has the voxels of a box: the side, or a layer below it.
func (s *side) bare(t touched) *side {
	for _, over := range t {
		if len(over) > 0 {
			break
		}
		s = s.below
	}
	return s
}

// version returns the version of a cube, or zero if there is none. known is false if it cannot be found.
func (s *side) version(ctx context.Context, cube volume.Vec) (v volume.Version, known bool) {
	at := cube.Mul(s.mosaic.Cube().Blocks())
	key, ok := s.mosaic.Key(at)
	if !ok {
		if s.mosaic.Resolve(ctx, at) != nil {
			return v, false // reading it has the error
		}
		key, ok = s.mosaic.Key(at)
	}
	return key.Version, ok
}

// cubes returns the cubes with voxels of a box that are in the bounding box.
func (s *side) cubes(box volume.Box) volume.Box {
	inside := box.Intersect(s.mosaic.Bounds())
	if inside.Empty() {
		return volume.Box{}
	}
	return s.mosaic.Local(inside).Div(s.mosaic.Cube().Size)
}

// isAbsent reports whether a side has no cube in a box.
func (s *side) isAbsent(ctx context.Context, box volume.Box) bool {
	for c := range s.cubes(box).All() {
		if v, known := s.version(ctx, c); !known || ctx.Err() != nil || v != (volume.Version{}) {
			return false
		}
	}
	return true
}

// isSame reports whether two sides have the same versions of the same cubes in a box.
func isSame(ctx context.Context, a, b *side, box volume.Box) bool {
	x, y := a.mosaic.Cube(), b.mosaic.Cube()
	x.Spacing, y.Spacing = [3]float64{}, [3]float64{}
	if x != y || box.Intersect(a.mosaic.Bounds()) != box.Intersect(b.mosaic.Bounds()) {
		return false
	}
	for c := range a.cubes(box).All() {
		v, known := a.version(ctx, c)
		w, alsoKnown := b.version(ctx, c)
		if !known || !alsoKnown || ctx.Err() != nil || v != w {
			return false
		}
	}
	return true
}

// mayDiffer returns the units of a cell that are not known to be equal.
func (c *comparer) mayDiffer(ctx context.Context, units volume.Box) (map[volume.Vec]bool, error) {
	box := c.unitBox(units)
	overA, err := c.a.touchedIn(box)
	if err != nil {
		return nil, err
	}
	overB, err := c.b.touchedIn(box)
	if err != nil || c.isEqual(ctx, box, overA, overB) {
		return nil, err
	}
	may := map[volume.Vec]bool{}
	byUnit := c.byUnit(units, overA, overB)
	for at := range units.All() {
		one := c.unitBox(at.BoxOfOne())
		over, ok := byUnit[at]
		if !ok {
			over = [2]touched{make(touched, len(overA)), make(touched, len(overB))}
		}
		if !c.isEqual(ctx, one, over[0], over[1]) {
			may[at] = true
		}
	}
	return may, ctx.Err()
}

// byUnit returns the blocks over both sides, for each unit that has some.
func (c *comparer) byUnit(units volume.Box, sides ...touched) map[volume.Vec][2]touched {
	found := map[volume.Vec][2]touched{}
	for i, t := range sides {
		for level, over := range t {
			for _, b := range over {
				for at := range b.Sub(c.origin).Div(c.unit).Intersect(units).All() {
					of, ok := found[at]
					if !ok {
						of = [2]touched{make(touched, len(sides[0])), make(touched, len(sides[1]))}
					}
					of[i][level] = append(of[i][level], b)
					found[at] = of
				}
			}
		}
	}
	return found
}

// isEqual reports whether a box is known to be equal without a look at its voxels.
func (c *comparer) isEqual(ctx context.Context, box volume.Box, overA, overB touched) bool {
	a, b := c.a.bare(overA), c.b.bare(overB)
	return a.isAbsent(ctx, box) && b.isAbsent(ctx, box) || isSame(ctx, a, b, box)
}
