package chunked

import (
	"math"

	"github.com/wkwfs/wkwfs/volume"
)

// Nanometres returns the length in nm of a unit, in the long form of OME and UDUNITS-2 or the short form of N5. It is 0
// if the unit is not known.
func Nanometres(unit string) float64 { return nanometres[unit] }

var nanometres = map[string]float64{
	"picometer": 1e-3, "picometre": 1e-3, "pm": 1e-3, "angstrom": 0.1, "angstroms": 0.1, "Å": 0.1,
	"nanometer": 1, "nanometers": 1, "nanometre": 1, "nanometres": 1, "nm": 1,
	"micrometer": 1e3, "micrometers": 1e3, "micrometre": 1e3, "micrometres": 1e3, "um": 1e3, "µm": 1e3, "μm": 1e3,
	"micron": 1e3, "microns": 1e3,
	"millimeter": 1e6, "millimeters": 1e6, "millimetre": 1e6, "millimetres": 1e6, "mm": 1e6, "centimeter": 1e7,
	"centimetre": 1e7, "cm": 1e7,
	"decimeter": 1e8, "meter": 1e9, "metre": 1e9, "m": 1e9, "kilometer": 1e12,
	"inch": 25.4e6, "foot": 304.8e6, "yard": 914.4e6,
}

// Transform places the voxels of an array in the world: index i on an axis is at Scale × i + Translation, the centre of
// the voxel. Scale is 0 if unknown.
type Transform struct {
	Scale, Translation [3]float64 // x, y, z in a unit
	Unit               [3]float64 // in nm; 0 if unknown
}

// maxSpacing is the largest size of a voxel that is plausible: a kilometre, in nm.
const maxSpacing = 1e12

// Spacing returns the size of a voxel in nm. It is 0 on an axis where it is not known, or not plausible.
func (t Transform) Spacing() (s [3]float64) {
	for axis := range 3 {
		n := t.Scale[axis] * t.Unit[axis]
		if n > 0 && n <= maxSpacing {
			s[axis] = n
		}
	}
	return s
}

// Factor returns the size of a voxel in voxels of the finest resolution. It is zero if that is not an integer on every
// axis.
func (t Transform) Factor(finest Transform) (f volume.Factor) {
	for axis := range 3 {
		n := t.Scale[axis] / finest.Scale[axis]
		rounded := math.Round(n)
		if !(rounded >= 1 && rounded <= MaxExtent && math.Abs(n-rounded) < 0.02*rounded) {
			return volume.Factor{}
		}
		f[axis] = int(rounded)
	}
	return f
}

// InNanometres returns t with its numbers in nm where the unit is known. Without that, two transforms with different
// units cannot be compared.
func (t Transform) InNanometres() Transform {
	for axis, unit := range t.Unit {
		if unit > 0 {
			t.Scale[axis] *= unit
			t.Translation[axis] *= unit
			t.Unit[axis] = 1
		}
	}
	return t
}

// Coarser returns the place of a resolution whose voxels are as large as a factor of those of t, and start at the same
// corner.
func (t Transform) Coarser(f volume.Factor) Transform {
	for axis := range 3 {
		t.Translation[axis] += t.Scale[axis] * float64(f[axis]-1) / 2
		t.Scale[axis] *= float64(f[axis])
	}
	return t
}

// FactorOfSizes returns the factor of a resolution by its size and that of the finest one, in voxels, for metadata that
// do not have it. It is zero if the sizes are not those of one image, downsampled by an integer on every axis.
func FactorOfSizes(finest, size volume.Vec) (f volume.Factor) {
	for axis := range 3 {
		if f[axis] = factorOfSize(finest[axis], size[axis]); f[axis] == 0 {
			return volume.Factor{}
		}
	}
	return f
}

// factorOfSize returns an integer that divides finest to size, rounded up or down. It prefers one that divides it
// exactly, then a power of two, as nearly all programs use. It is 0 if there is none.
func factorOfSize(finest, size int) int {
	if finest < 1 || size < 1 {
		return 0
	}
	divides := func(n int) bool { return n > 0 && (finest/n == size || (finest+n-1)/n == size) }
	ratio := float64(finest) / float64(size)
	powers := math.Log2(ratio)
	candidates := []int{int(math.Round(ratio))}
	if finest%size != 0 {
		candidates = []int{1 << int(math.Round(max(powers, 0))), 1 << int(math.Ceil(max(powers, 0))), candidates[0]}
	}
	for _, n := range candidates {
		if divides(n) {
			return n
		}
	}
	return 0
}

// Origin returns the position of the first voxel, rounded to voxels. Resolutions are aligned at the corners of their
// first voxels, and translations are those of the centres. So half of the difference of the voxel sizes is subtracted.
func (t Transform) Origin(finest Transform) (origin volume.Vec) {
	for axis := range 3 {
		if t.Scale[axis] <= 0 {
			continue
		}
		n := math.Round((t.Translation[axis] - (t.Scale[axis]-finest.Scale[axis])/2) / t.Scale[axis])
		if math.Abs(n) <= MaxExtent {
			origin[axis] = int(n)
		}
	}
	return origin
}
