package hdfsource

import (
	"math"
	"slices"
	"strings"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/volume"
)

// nanometres has units of length in nm, by the names that programs write.
var nanometres = map[string]float64{
	"nm": 1, "nanometer": 1, "nanometre": 1, "nanometers": 1,
	"um": 1e3, "µm": 1e3, "μm": 1e3, "micrometer": 1e3, "micrometre": 1e3, "micrometers": 1e3, "micron": 1e3,
	"microns": 1e3,
	"mm":      1e6, "millimeter": 1e6, "millimetre": 1e6, "m": 1e9, "meter": 1e9, "metre": 1e9,
}

// unit returns a unit in nm, or that of a default.
func unit(name string, usual float64) float64 {
	if nm, ok := nanometres[name]; ok {
		return nm
	}
	return usual
}

// position is where a dataset lies, by x, y, z.
type position struct {
	spacing [3]float64 // of voxels, in nm; 0 if unknown
	offset  [3]float64 // of the first voxel, in nm
	from    string     // what says so; empty if nothing does
}

// origin returns the offset in voxels. It is 0 if it is no whole number, or too large.
func (p position) origin() (at volume.Vec) {
	const limit, deviation = 1 << 40, 0.1
	for axis := range 3 {
		if p.spacing[axis] <= 0 {
			return volume.Vec{}
		}
		v := p.offset[axis] / p.spacing[axis]
		if whole := math.Round(v); math.Abs(v-whole) > deviation || math.Abs(whole) > limit {
			return volume.Vec{}
		}
		at[axis] = int(math.Round(v))
	}
	return at
}

// position returns where a dataset lies. xyz is true if attributes are in the order x, y, z, as in n5-hdf5; else they
// are z, y, x. Attributes of the dataset win over those of groups above it.
func (t *tree) position(d *hdf5.Dataset, xyz bool) (p position) {
	for _, o := range t.parents(d) {
		nm := 1.0
		var size []float64
		for _, name := range []string{"resolution", "voxel_size", "element_size_um"} {
			if size = slices.Clone(floats(o, name, 3)); size == nil {
				continue
			}
			if p.from = name + ", as nm"; name == "element_size_um" {
				p.from, nm = name, 1e3
			}
			break
		}
		if size == nil {
			continue
		}
		p.from += " in the order z, y, x"
		if xyz {
			p.from = strings.TrimSuffix(p.from, "z, y, x") + "x, y, z"
		}
		offset := slices.Clone(floats(o, "offset", 3))
		if offset == nil {
			offset = make([]float64, 3)
		}
		if !xyz {
			slices.Reverse(size)
			slices.Reverse(offset)
		}
		for axis := range 3 {
			if v := size[axis] * nm; v > 0 && v < 1e15 {
				p.spacing[axis] = v
			}
			p.offset[axis] = offset[axis] * nm
		}
		break
	}
	if factors := floats(d, "downsamplingFactors", 3); factors != nil && xyz {
		for axis, f := range factors {
			p.spacing[axis] *= f
		}
	}
	return p
}

// coordinates sets the spacing of the axes whose dimension scales have equal distances and a unit.
func (t *tree) coordinates(d *hdf5.Dataset, a axes, p *position) {
	scales := t.dimensions(d)
	for axis, i := range a.space {
		if i < 0 || scales == nil || scales[i] == nil {
			continue
		}
		nm, ok := nanometres[text(scales[i], "units")]
		values, err := valuesOf(scales[i].Type())
		b, readErr := scales[i].ReadAll(1 << 20)
		if !ok || err != nil || readErr != nil || len(b) < 2*values.stored {
			continue
		}
		if step := values.float(b[values.stored:]) - values.float(b); step > 0 && step < 1e12 {
			p.from = "dimension scales"
			p.spacing[axis] = step * nm
		}
	}
}

// float returns a stored value.
func (v values) float(b []byte) float64 {
	n := v.number(b)
	switch {
	case v.half:
		return float64(halfToFloat(uint16(n)))
	case v.kind == volume.Float32:
		return float64(math.Float32frombits(uint32(n)))
	case v.kind == volume.Float64:
		return math.Float64frombits(n)
	case v.kind.IsUnsigned():
		return float64(n)
	}
	shift := 64 - 8*v.stored
	return float64(int64(n<<shift) >> shift)
}
