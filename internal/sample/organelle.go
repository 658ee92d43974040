package sample

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Organelles, in x-voxels of mag 1.
const (
	organelleStep  = 42 // at most one per cube of this side
	organelleReach = 20 // no point of it is farther than that outside its cube
	organelleShare = 0.55
)

// organelle is an ellipsoid with a dark rim and stripes inside: a mitochondrion. It
// shows in the cells it lies in, each by chance, and keeps off their membranes.
type organelle struct {
	seed   dice
	centre vec
	axis   vec     // the direction in which it is long
	squash float32 // 1 − (short/long)²
	radius float32 // across
	ripple vec     // stripes: their wave vector
}

// organelleAt returns what a cube of the lattice of organelles holds.
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

// showsIn reports whether the organelle's part that lies in the cell is there.
func (o *organelle) showsIn(c *cell) bool {
	d := o.seed ^ dice(mix(uint64(c.id)))
	return d.roll(0, 1) < organelleShare
}

// organellesAround returns those that reach into the box from lo to hi.
func (t Tissue) organellesAround(lo, hi vec) []organelle {
	reach := vec{organelleReach, organelleReach, organelleReach}
	first, last := lo.sub(reach).cube(organelleStep), hi.add(reach).cube(organelleStep)
	var all []organelle
	for at := range (volume.Box{Min: first, Max: last.Add(volume.Cube(1))}).All() {
		all = append(all, t.organelleAt(at))
	}
	return all
}

// reaches reports whether any of the organelle may lie within radius of p.
func (o *organelle) reaches(p vec, radius float32) bool {
	d := p.sub(o.centre)
	along := d.dot(o.axis)
	return sqrt(d.dot(d)-o.squash*along*along) <= o.radius+radius
}

// shade returns the grey level of the organelle at p, and false outside of it.
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
