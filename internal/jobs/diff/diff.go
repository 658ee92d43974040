package diff

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/arrays/lattice"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// Options says how to compare.
type Options struct {
	Cache  *cache.Cache
	Jobs   int              // runs that are compared at a time
	Found  func(Difference) // called for each box that differs
	Failed func(Fault)      // called for each box that cannot be compared
	Stats  *Stats           // may be nil
}

// Difference is a box with voxels that differ.
type Difference struct {
	Box    volume.Box // in voxels of the mag
	Voxels int64      // of the box that differ
}

// Fault is a box that cannot be compared.
type Fault struct {
	Box volume.Box
	Err error
}

// Stats counts what Mags has done. It may be read at any time.
type Stats struct {
	Planes, AllPlanes atomic.Int64 // of voxels
	Compared          atomic.Int64 // bytes of each side that were read and compared
}

// Result is what two mags have in common.
type Result struct {
	BoundsA, BoundsB volume.Box
}

// limits are numbers that only large data reach.
type limits struct {
	unit     int // least voxels of a unit on each axis
	unitMost int // bytes of a unit, unless it is one voxel
	run      int // bytes of a run of units, unless it is one unit
	cell     int // units of a cell on each axis
	cells    int // cells of a box that are all looked at: in a larger box, only those with cubes are
	stored   int // cells with cubes of a larger box
}

var usual = limits{unit: 32, unitMost: 8 << 20, run: 4 << 20, cell: 32, cells: 1 << 16, stored: 1 << 20}

// Mags compares two mags. It fails if their voxels cannot be compared, if a mag cannot be listed, or if ctx is done.
func Mags(ctx context.Context, a, b volume.Mag, o Options) (Result, error) {
	return mags(ctx, a, b, o, usual)
}

func mags(ctx context.Context, a, b volume.Mag, o Options, l limits) (r Result, err error) {
	if o.Stats == nil {
		o.Stats = &Stats{}
	}
	c := &comparer{Options: o, limits: l}
	if c.a, err = newSide(a, o.Cache); err != nil {
		return r, fmt.Errorf("in A: %w", err)
	}
	defer c.a.close()
	if c.b, err = newSide(b, o.Cache); err != nil {
		return r, fmt.Errorf("in B: %w", err)
	}
	defer c.b.close()
	x, y := c.a.mosaic.Cube(), c.b.mosaic.Cube()
	if x.Type != y.Type || x.Channels != y.Channels {
		return r, fmt.Errorf("expected voxels of one type, found %d × %v in A and %d × %v in B", x.Channels, x.Type,
			y.Channels, y.Type)
	}
	c.setUnit(x, y)
	r = Result{c.a.mosaic.Bounds(), c.b.mosaic.Bounds()}
	c.bounds = r.BoundsA.Union(r.BoundsB)
	return r, c.compare(ctx)
}

// comparer compares two mags.
type comparer struct {
	Options
	limits
	a, b   *side
	bounds volume.Box // of both
	origin volume.Vec // of a unit
	unit   volume.Vec // voxels
	voxel  int        // bytes
	err    error      // why the cells ended early; set by runs
}

// setUnit chooses the unit: the larger block on each axis, as far as memory allows.
func (c *comparer) setUnit(x, y volume.Grid) {
	c.origin, c.voxel, c.unit = x.Origin, x.VoxelBytes(), x.Block.Max(y.Block)
	for axis := range c.unit {
		for c.unit[axis] < c.limits.unit {
			c.unit[axis] *= 2
		}
	}
	for c.bytes(c.unit) > float64(c.unitMost) && c.unit != volume.Cube(1) {
		longest := 0
		for axis := range c.unit {
			if c.unit[axis] > c.unit[longest] {
				longest = axis
			}
		}
		c.unit[longest] = (c.unit[longest] + 1) / 2
	}
}

// bytes returns the bytes of a box of a size, which may be more than fit an int.
func (c *comparer) bytes(size volume.Vec) float64 {
	return float64(c.voxel) * float64(size[0]) * float64(size[1]) * float64(size[2])
}

// unitBox returns the voxels of units, within the bounding boxes.
func (c *comparer) unitBox(units volume.Box) volume.Box {
	return units.Mul(c.unit).Add(c.origin).Intersect(c.bounds)
}

// compare compares all cells, one after the other.
func (c *comparer) compare(ctx context.Context) error {
	first := c.bounds.Min[2]
	c.Stats.AllPlanes.Add(int64(c.bounds.Size()[2]))
	end := func(z int) {
		c.Stats.Planes.Add(int64(z - first))
		first = z
	}
	var open cell
	runs := parallel.InOrder(c.runs(ctx), max(1, c.Jobs), func(r run) compared { return c.run(ctx, r) })
	for done := range runs {
		if done.cell != open.at {
			open.flush(c)
			end(max(first, min(done.box.Min[2], c.bounds.Max[2])))
		}
		open.at = done.cell
		open.add(done)
	}
	open.flush(c)
	if c.err == nil {
		c.err = ctx.Err()
	}
	if c.err == nil {
		end(c.bounds.Max[2])
	}
	return c.err
}

// run is some units next to each other on x, in one cell.
type run struct {
	cell  volume.Vec
	units volume.Box
}

// runs yields the units that may differ. An error ends them, and is in err.
func (c *comparer) runs(ctx context.Context) iter.Seq[run] {
	return func(yield func(run) bool) {
		all := c.bounds.Sub(c.origin).Div(c.unit)
		most := max(1, int(float64(c.limits.run)/c.bytes(c.unit)))
		for at, err := range c.cellsOf(ctx, all.Div(volume.Cube(c.cell))) {
			if c.err = cmp.Or(err, ctx.Err()); c.err != nil {
				return
			}
			units := at.BoxOfOne().Mul(volume.Cube(c.cell)).Intersect(all)
			var may map[volume.Vec]bool
			if may, c.err = c.mayDiffer(ctx, units); c.err != nil {
				return
			}
			if len(may) > 0 && !runsOf(at, units, may, most, yield) {
				return
			}
		}
	}
}

// runsOf yields the units of a cell in a set, as runs of at most some units.
func runsOf(at volume.Vec, units volume.Box, may map[volume.Vec]bool, most int, yield func(run) bool) bool {
	for z := units.Min[2]; z < units.Max[2]; z++ {
		for y := units.Min[1]; y < units.Max[1]; y++ {
			for x := units.Min[0]; x < units.Max[0]; x++ {
				first := volume.Vec{x, y, z}
				if !may[first] {
					continue
				}
				r := run{at, first.BoxOfOne()}
				for may[volume.Vec{r.units.Max[0], y, z}] && r.units.Max[0]-x < most {
					r.units.Max[0]++
				}
				x = r.units.Max[0] - 1
				if !yield(r) {
					return false
				}
			}
		}
	}
	return true
}

// cell is what is known of the cell that is compared.
type cell struct {
	at     volume.Vec
	differ map[volume.Vec]int64 // voxels of units
	faults []unitFaults
	byText map[string]int // indexes of faults
}

// unitFaults is units that cannot be compared for one reason.
type unitFaults struct {
	err   error
	units []volume.Vec
}

// compared is what a run has.
type compared struct {
	run
	box    volume.Box
	counts []int64 // voxels that differ, of each unit
	faults []fault
}

// fault is a unit that cannot be compared.
type fault struct {
	unit volume.Vec
	err  error
}

func (l *cell) add(r compared) {
	for i, n := range r.counts {
		if n == 0 {
			continue
		}
		if l.differ == nil {
			l.differ = map[volume.Vec]int64{}
		}
		l.differ[r.units.Min.Add(volume.Vec{0: i})] = n
	}
	for _, f := range r.faults {
		text := f.err.Error()
		i, known := l.byText[text]
		if !known {
			if l.byText == nil {
				l.byText = map[string]int{}
			}
			i = len(l.faults)
			l.byText[text], l.faults = i, append(l.faults, unitFaults{err: f.err})
		}
		l.faults[i].units = append(l.faults[i].units, f.unit)
	}
}

// flush reports the boxes that differ or cannot be compared, and forgets them.
func (l *cell) flush(c *comparer) {
	units := make([]volume.Vec, 0, len(l.differ))
	for at := range l.differ {
		units = append(units, at)
	}
	for _, box := range lattice.Boxes(units) {
		d := Difference{Box: c.unitBox(box)}
		for at := range box.All() {
			d.Voxels += l.differ[at]
		}
		c.Found(d)
	}
	for _, f := range l.faults {
		for _, box := range lattice.Boxes(f.units) {
			c.Failed(Fault{c.unitBox(box), f.err})
		}
	}
	l.differ, l.faults, l.byText = nil, nil, nil
}
