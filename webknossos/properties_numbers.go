package webknossos

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// BoundingBox is the box of a layer in voxels of mag 1. TopLeft is its first voxel. Width, Height and Depth are its
// extents on x, y and z.
type BoundingBox struct {
	TopLeft Corner `json:"topLeft"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Depth   int    `json:"depth"`
}

// UnmarshalJSON accepts 64.0 for 64.
func (b *BoundingBox) UnmarshalJSON(raw []byte) error {
	var v struct {
		TopLeft              Corner
		Width, Height, Depth whole
	}
	err := json.Unmarshal(raw, &v)
	*b = BoundingBox{v.TopLeft, int(v.Width), int(v.Height), int(v.Depth)}
	return err
}

// whole is an integer, which may have the form 64.0: programs write it if all their numbers are floats.
type whole int

// UnmarshalJSON accepts a whole number.
func (w *whole) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(string(b))
	if err == nil || string(b) == "null" {
		*w = whole(n)
		return nil
	}
	const exact = 1 << 53 // larger numbers may have been rounded
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return fmt.Errorf("expected a whole number, found %s", jsonlimit.Abbreviate(b))
	}
	*w = whole(f)
	return nil
}

// Corner is a position in voxels of mag 1, stored as [x, y, z].
type Corner volume.Vec

// UnmarshalJSON accepts exactly three numbers.
func (c *Corner) UnmarshalJSON(b []byte) error {
	return unmarshal3[whole](b, (*[3]int)(c), "topLeft")
}

// unmarshal3 parses a list of three numbers. The json package would accept a list of any length, and so move or
// resize a box.
func unmarshal3[J whole | float64, T int | float64](b []byte, to *[3]T, field string) error {
	list, err := jsonlimit.List[J](b, len(to), "numbers")
	if err != nil || len(list) != len(to) {
		return fmt.Errorf("%s: expected 3 numbers of type %T, found %s", field, to[0], jsonlimit.Abbreviate(b))
	}
	for i, n := range list {
		to[i] = T(n)
	}
	return nil
}

// MagProperties describes one mag of a layer.
type MagProperties struct {
	Mag        FactorProperty `json:"mag"`
	Resolution FactorProperty `json:"resolution"` // the former name of Mag
	Path       string         `json:"path"`       // relative to the dataset, absolute or a URI

	AxisOrder    json.RawMessage `json:"axisOrder"`    // of an array: {"c": 0, "x": 1, "y": 2, "z": 3}
	ChannelIndex *int            `json:"channelIndex"` // the only channel of an array that is shown; nil means all
}

// UnmarshalJSON accepts also the factor alone.
func (m *MagProperties) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '{' {
		*m = MagProperties{}
		return m.Mag.UnmarshalJSON(b)
	}
	type plain MagProperties // without this method
	return json.Unmarshal(b, (*plain)(m))
}

// Factor returns the factor of the mag, from Mag or Resolution.
func (m MagProperties) Factor() volume.Factor {
	if m.Mag != (FactorProperty{}) {
		return volume.Factor(m.Mag)
	}
	return volume.Factor(m.Resolution)
}

// FactorProperty is a factor, stored as a number or as [x, y, z].
type FactorProperty volume.Factor

// UnmarshalJSON accepts both forms.
func (f *FactorProperty) UnmarshalJSON(b []byte) error {
	var n whole
	if string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, &n); err == nil {
		*f = FactorProperty{int(n), int(n), int(n)}
		return nil
	}
	return unmarshal3[whole](b, (*[3]int)(f), "mag")
}

// Scale is the size of a voxel of mag 1 in nm. An axis that is not known is 0.
type Scale [3]float64

// nanometres has the length in nm of each unit that WEBKNOSSOS supports.
var nanometres = map[string]float64{
	"yoctometer": 1e-15, "zeptometer": 1e-12, "attometer": 1e-9, "femtometer": 1e-6, "picometer": 1e-3,
	"angstrom": 0.1, "nanometer": 1, "micrometer": 1e3, "millimeter": 1e6, "centimeter": 1e7, "decimeter": 1e8,
	"meter": 1e9, "hectometer": 1e11, "kilometer": 1e12, "inch": 25.4e6, "foot": 304.8e6, "yard": 914.4e6,
	"": 1,
}

// maxScale is the largest scale that is plausible: a kilometre, in nm.
const maxScale = 1e12

// UnmarshalJSON accepts [x, y, z] in nm and {"factor": [x, y, z], "unit": "nanometer"}.
// An axis with an unknown unit or an implausible number is 0.
func (s *Scale) UnmarshalJSON(b []byte) error {
	var v struct {
		Factor json.RawMessage `json:"factor"`
		Unit   string          `json:"unit"`
	}
	if json.Unmarshal(b, &v) != nil {
		v.Factor = b
	}
	*s = Scale{}
	if v.Factor == nil {
		return nil
	}
	if err := unmarshal3[float64](v.Factor, (*[3]float64)(s), "scale"); err != nil {
		return err
	}
	for axis := range s {
		s[axis] *= nanometres[v.Unit]
		if s[axis] <= 0 || s[axis] > maxScale {
			s[axis] = 0
		}
	}
	return nil
}
