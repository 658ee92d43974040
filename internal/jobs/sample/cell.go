package sample

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Sizes of cells, in x-voxels of mag 1.
const (
	cellStep   = 50 // one site per cube of this side
	cellJitter = 0.4 * cellStep
	cellGrowth = 26  // up to this is subtracted from the distance to a site
	cellReach  = 165 // sites beyond never win: their distance is at least 165 · minSquash − cellGrowth
	minSquash  = 0.45
	maxWall    = 5.5
	margin     = maxWall * rampEnd // a cell that is this much farther than the nearest one does not show
)

// idBits is the number of bits of each coordinate of a site in the id of its cell. Ids repeat after 1024 sites, which
// are 50,000 voxels.
const idBits = 10

// cell is a site of the Voronoi diagram. All voxels nearest to the site are the cell.
type cell struct {
	id      uint32
	site    vec
	axis    vec     // the direction in which the cell is long
	squash  float32 // 1 − s²: distances along axis are multiplied by s
	growth  float32 // is subtracted from all distances
	perWall float32 // 1 / thickness of its membrane
	shade   float32 // grey level of its cytoplasm
}

// cellAt returns the cell whose site is in a cube of the lattice of sites.
func (t Tissue) cellAt(at volume.Vec) cell {
	d := dice(t.random(forCells, at))
	jitter := vec{d.roll(-1, 1), d.roll(-1, 1), d.roll(-1, 1)}.scale(cellJitter)
	along := d.roll(minSquash, 1)
	c := cell{
		id:      cellID(at),
		site:    middle(at, cellStep).add(jitter),
		axis:    d.direction(),
		squash:  1 - along*along,
		growth:  cellGrowth * d.roll(0, 1) * d.roll(0, 1),
		perWall: 1 / d.roll(2.6, 4),
		shade:   d.roll(148, 186),
	}
	if d.roll(0, 1) < 0.06 {
		c.perWall = 1.0 / maxWall
	}
	return c
}

func cellID(at volume.Vec) uint32 {
	const mask = 1<<idBits - 1
	return 1 + uint32(at[0]&mask|(at[1]&mask)<<idBits|(at[2]&mask)<<(2*idBits))
}

// distance returns the distance of p from the site, in the metric of the cell.
func (c *cell) distance(p vec) float32 {
	d := p.sub(c.site)
	along := d.dot(c.axis)
	return sqrt(d.dot(d)-c.squash*along*along) - c.growth
}

// cellsAround returns all cells that can have a voxel at one of the points.
func (t Tissue) cellsAround(points []vec) []cell {
	lo, hi := points[0], points[0]
	for _, p := range points {
		lo = vec{min(lo.x, p.x), min(lo.y, p.y), min(lo.z, p.z)}
		hi = vec{max(hi.x, p.x), max(hi.y, p.y), max(hi.z, p.z)}
	}
	reach := vec{cellReach, cellReach, cellReach}
	first, last := lo.sub(reach).cube(cellStep), hi.add(reach).cube(cellStep)
	var all []cell
	for at := range (volume.Box{Min: first, Max: last.Add(volume.Cube(1))}).All() {
		all = append(all, t.cellAt(at))
	}
	return all
}

// narrow appends to dst the cells that are nearest, or nearest up to margin, to any position between the points. The
// distance of a position differs from that of the centre by at most the radius of the points, because no metric is
// longer than the Euclidean one.
func narrow(dst []*cell, cells []*cell, points []vec) []*cell {
	var centre vec
	for _, p := range points {
		centre = centre.add(p)
	}
	centre = centre.scale(1 / float32(len(points)))
	var radius float32
	for _, p := range points {
		radius = max(radius, centre.distance(p))
	}
	nearest := float32(math.Inf(1))
	for _, c := range cells {
		nearest = min(nearest, c.distance(centre))
	}
	limit := nearest + 2*radius + margin
	for _, c := range cells {
		if c.distance(centre) <= limit {
			dst = append(dst, c)
		}
	}
	return dst
}
