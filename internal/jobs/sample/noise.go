package sample

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// vec is a position or direction in the tissue, in x-voxels of mag 1 on all axes. It is a struct because the compiler
// keeps structs in registers, but not arrays.
type vec struct{ x, y, z float32 }

func (a vec) add(b vec) vec          { return vec{a.x + b.x, a.y + b.y, a.z + b.z} }
func (a vec) sub(b vec) vec          { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) scale(s float32) vec    { return vec{a.x * s, a.y * s, a.z * s} }
func (a vec) dot(b vec) float32      { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) distance(b vec) float32 { d := a.sub(b); return sqrt(d.dot(d)) }

// cube returns the cube of a lattice that contains a. side is the side of its cubes.
func (a vec) cube(side float32) volume.Vec {
	return volume.Vec{floor(a.x / side), floor(a.y / side), floor(a.z / side)}
}

// middle returns the centre of a cube of a lattice.
func middle(cube volume.Vec, side float32) vec {
	return vec{float32(cube[0]) + 0.5, float32(cube[1]) + 0.5, float32(cube[2]) + 0.5}.scale(side)
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
func floor(x float32) int    { return int(math.Floor(float64(x))) }

func lerp(a, b, t float32) float32 { return a + (b-a)*t }

// purpose makes random numbers of different uses independent at the same position.
type purpose uint64

const (
	forCells purpose = iota + 1
	forOrganelles
	forBends
	forStains
	forGrain
)

// random returns 64 random bits for a position of an integer lattice.
func (t Tissue) random(p purpose, at volume.Vec) uint64 {
	h := t.Seed*0xD6E8FEB86659FD93 + uint64(p)*0xA0761D6478BD642F
	h ^= uint64(at[0])*0x9E3779B97F4A7C15 + uint64(at[1])*0xC2B2AE3D27D4EB4F + uint64(at[2])*0x165667B19E3779F9
	return mix(h)
}

// mix is the finalizer of splitmix64: every bit of h changes half of the result.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// dice is a generator of random numbers.
type dice uint64

// roll returns a number in [lo, hi).
func (d *dice) roll(lo, hi float32) float32 {
	*d = dice(mix(uint64(*d) + 0x9E3779B97F4A7C15))
	return lo + (hi-lo)*float32(*d>>40)/(1<<24)
}

// direction returns a unit vector. All directions are equally likely.
func (d *dice) direction() vec {
	z, angle := d.roll(-1, 1), float64(d.roll(0, 2*math.Pi))
	r := sqrt(1 - z*z)
	return vec{r * float32(math.Cos(angle)), r * float32(math.Sin(angle)), z}
}

// centred returns a vector with components in [−1, 1) from random bits.
func centred(h uint64) vec {
	const unit = 1.0 / (1 << 20)
	return vec{
		float32(h&(1<<21-1))*unit - 1,
		float32(h>>21&(1<<21-1))*unit - 1,
		float32(h>>42&(1<<21-1))*unit - 1,
	}
}

// smooth returns value noise: random vectors in [−1, 1) on a lattice, interpolated with continuous slopes. step is the
// distance of the points of the lattice.
func (t Tissue) smooth(p purpose, at vec, step float32) vec {
	cube := at.cube(step)
	w := vec{ease(at.x/step - float32(cube[0])), ease(at.y/step - float32(cube[1])), ease(at.z/step - float32(cube[2]))}
	var sum vec
	for i := range 8 {
		dx, dy, dz := i&1, i>>1&1, i>>2
		weight := lerp(1-w.x, w.x, float32(dx)) * lerp(1-w.y, w.y, float32(dy)) * lerp(1-w.z, w.z, float32(dz))
		sum = sum.add(centred(t.random(p, cube.Add(volume.Vec{dx, dy, dz}))).scale(weight))
	}
	return sum
}

// ease is a smooth step from 0 to 1, with slope 0 at both ends.
func ease(x float32) float32 { return x * x * (3 - 2*x) }
