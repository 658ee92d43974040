package arrayfile

import (
	"fmt"
	"math"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	// MaxCoordinate limits positions and sizes in voxels, so that their sums cannot overflow.
	MaxCoordinate = 1 << 40
	// MaxSpacing is the greatest plausible size of a voxel, in nm: a kilometre.
	MaxSpacing = 1e12
	// maxDeviation is how far, in voxels, a position may be from a whole number: headers have numbers of 32 bits.
	maxDeviation = 0.1
)

// nanometres has the units of length in nm, by their names in headers.
var nanometres = map[string]float64{
	"Å": 0.1, "\u212b": 0.1, "angstrom": 0.1, // Unicode has two of them
	"nm": 1, "nanometer": 1, "nanometre": 1,
	"um": 1e3, "\u00b5m": 1e3, "\u03bcm": 1e3, "micron": 1e3, "micrometer": 1e3, "micrometre": 1e3,
	"mm": 1e6, "millimeter": 1e6, "millimetre": 1e6,
	"cm": 1e7, "centimeter": 1e7, "centimetre": 1e7,
	"m": 1e9, "meter": 1e9, "metre": 1e9,
}

// unitOf returns a unit of length in nm, or 0 if it has no such name. Names that are words may be plurals and have
// capital letters.
func unitOf(name string) float64 {
	if len(name) > len("ms") { // not a length
		if nm := nanometres[strings.TrimSuffix(strings.ToLower(name), "s")]; nm != 0 {
			return nm
		}
	}
	return nanometres[name]
}

// setPosition sets Origin from the position of voxel 0,0,0 in the header. pitch is the distance between voxels, in the
// same unit. If the position is not valid, setPosition sets PositionErr.
func (a *Array) setPosition(name string, origin, pitch [3]float64) {
	var at volume.Vec
	for axis := range 3 {
		v := origin[axis] / pitch[axis]
		whole := math.Round(v)
		if !(math.Abs(v-whole) <= maxDeviation) || math.Abs(whole) > MaxCoordinate {
			a.PositionErr = fmt.Errorf("%s: voxel 0,0,0 is at %v voxels on axis %c, not at a whole number: %w", name, v,
				"xyz"[axis], ErrPosition)
			return
		}
		at[axis] = int(whole)
	}
	a.Grid.Origin, a.Positioned = at, true
}

// validSpacing returns a spacing in nm, or 0 if it is not plausible.
func validSpacing(nm float64) float64 {
	if nm > 0 && nm <= MaxSpacing {
		return nm
	}
	return 0
}
