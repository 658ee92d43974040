package sample

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Sizes of organelles, in x-voxels of mag 1.
const (
	organelleStep  = 42   // there is one per cube of this side
	organelleReach = 20   // maximum distance of its points from its cube
	organelleShare = 0.55 // probability that it shows in a cell
)

// organelle is a mitochondrion: an ellipsoid with a dark rim and stripes inside. In each cell that it overlaps, it
// shows with probability organelleShare. It does not cover membranes.
type organelle struct {
	seed   dice
	centre vec
	axis   vec     // direction of its long axis
	squash float32 // 1 − (short/long)²
	radius float32 // of the short axes
	ripple vec     // wave vector of the stripes
}

// organelleAt returns the organelle of a cube of the lattice of organelles.
func (t Tissue) organelleAt(at volume.Vec) organelle {
	d := dice(t.random(forOrganelles, at))
	jitter := vec{d.roll(-1, 1), d.roll(-1, 1), d.roll(-1, 1)}.scale(8)
	short, long := d.roll(6.5, 11), d.roll(13, 26)
	return organelle{
		seed:   d,
		centre: middle(at, organelleStep).add(jitter),
		axis:   d.direction(),
		squash: 1 - (short/long)*(short/long),
		radius: short,
		ripple: d.direction().scale(d.roll(1.0, 1.3)),
	}
}

// showsIn reports whether the organelle shows in the cell.
func (o *organelle) showsIn(c *cell) bool {
	d := o.seed ^ dice(mix(uint64(c.id)))
	return d.roll(0, 1) < organelleShare
}

// organellesAround returns the organelles that may overlap the box from lo to hi.
func (t Tissue) organellesAround(lo, hi vec) []organelle {
	reach := vec{organelleReach, organelleReach, organelleReach}
	first, last := lo.sub(reach).cube(organelleStep), hi.add(reach).cube(organelleStep)
	var all []organelle
	for at := range (volume.Box{Min: first, Max: last.Add(volume.Cube(1))}).All() {
		all = append(all, t.organelleAt(at))
	}
	return all
}

// reaches reports whether part of the organelle may be within radius of p.
func (o *organelle) reaches(p vec, radius float32) bool {
	d := p.sub(o.centre)
	along := d.dot(o.axis)
	return sqrt(d.dot(d)-o.squash*along*along) <= o.radius+radius
}

// shade returns the grey level of the organelle at p. It returns false if p is outside.
func (o *organelle) shade(p vec) (float32, bool) {
	d := p.sub(o.centre)
	along := d.dot(o.axis)
	e := (d.dot(d) - o.squash*along*along) / (o.radius * o.radius)
	switch {
	case e >= 1:
		return 0, false
	case e > 0.72:
		return 92, true
	}
	phase := d.dot(o.ripple)
	phase -= float32(math.Floor(float64(phase/(2*math.Pi)))) * (2 * math.Pi)
	if phase < 2.2 {
		return 104, true
	}
	return 132, true
}
