package header

import "cmp"

// Unit is a unit of length. The zero Unit is none.
type Unit string

// Units that a header can have.
const (
	Nanometre  Unit = "nm"
	Micrometre Unit = "um"
	Millimetre Unit = "mm"
)

// nanometres has the length of each unit in nm.
var nanometres = map[Unit]float64{Nanometre: 1, Micrometre: 1e3, Millimetre: 1e6}

// UnitOf returns the unit of the lengths in the file: Array.Unit, or what the format has without it. It is empty if the
// format has no lengths, or if the spacing is unknown.
func (f Format) UnitOf(a Array) Unit {
	_, calibrated := a.spacing()
	switch {
	case !calibrated:
		return ""
	case f.unit == "" || f.fixedUnit:
		return f.unit
	}
	return cmp.Or(a.Unit, f.unit)
}
