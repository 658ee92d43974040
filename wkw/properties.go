package wkw

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// PropertiesFile is the name of the metadata file of a dataset.
const PropertiesFile = "datasource-properties.json"

// Properties is what we use of a dataset's datasource-properties.json, in all the
// forms that it has had.
type Properties struct {
	Scale  Scale             `json:"scale"`
	Layers []LayerProperties `json:"dataLayers"`
}

// LayerProperties describes one layer.
type LayerProperties struct {
	Name           string          `json:"name"`
	Category       string          `json:"category"`     // color or segmentation
	ElementClass   string          `json:"elementClass"` // of a voxel: uint24 is three uint8
	NumChannels    int             `json:"numChannels"`
	DataFormat     string          `json:"dataFormat"` // empty means wkw
	BoundingBox    *BoundingBox    `json:"boundingBox"`
	Mags           []MagProperties `json:"mags"`
	WKWResolutions []MagProperties `json:"wkwResolutions"` // what mags was called before
}

// BoundingBox is in voxels of mag 1.
type BoundingBox struct {
	TopLeft Corner `json:"topLeft"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Depth   int    `json:"depth"`
}

// Corner is a position written as [x, y, z].
type Corner volume.Vec

// UnmarshalJSON accepts three numbers, no fewer and no more.
func (c *Corner) UnmarshalJSON(b []byte) error { return unmarshal3(b, (*[3]int)(c), "topLeft") }

// unmarshal3 reads a list of three numbers. The json package fills an array from a
// list of any length, which would put a box where nobody said it was.
func unmarshal3[T int | float64](b []byte, to *[3]T, field string) error {
	var list []T
	if err := json.Unmarshal(b, &list); err != nil || len(list) != len(to) {
		return fmt.Errorf("%s: expected 3 numbers of type %T, found %s", field, to[0], b)
	}
	copy(to[:], list)
	return nil
}

// MagProperties describes one mag of a layer.
type MagProperties struct {
	Mag        FactorProperty `json:"mag"`
	Resolution FactorProperty `json:"resolution"` // what Mag was called before
	Path       string         `json:"path"`       // relative to the dataset, absolute or a URI
}

// Factor returns the mag's factor under whichever name it was given.
func (m MagProperties) Factor() volume.Factor {
	if m.Mag != (FactorProperty{}) {
		return volume.Factor(m.Mag)
	}
	return volume.Factor(m.Resolution)
}

// FactorProperty is a factor written as a number or as [x, y, z].
type FactorProperty volume.Factor

// UnmarshalJSON accepts both forms.
func (f *FactorProperty) UnmarshalJSON(b []byte) error {
	var n int
	if err := json.Unmarshal(b, &n); err == nil {
		*f = FactorProperty{n, n, n}
		return nil
	}
	return unmarshal3(b, (*[3]int)(f), "mag")
}

// Scale is the voxel size of mag 1 in nm; 0 where it is not known.
type Scale [3]float64

// nanometres per unit, by the names that webKNOSSOS gives to units.
var nanometres = map[string]float64{
	"yoctometer": 1e-15, "zeptometer": 1e-12, "attometer": 1e-9, "femtometer": 1e-6, "picometer": 1e-3,
	"angstrom": 0.1, "nanometer": 1, "micrometer": 1e3, "millimeter": 1e6, "centimeter": 1e7, "decimeter": 1e8,
	"meter": 1e9, "hectometer": 1e11, "kilometer": 1e12, "inch": 25.4e6, "foot": 304.8e6, "yard": 914.4e6,
	"": 1,
}

// maxScale bounds what is believed of a scale, in nm: a voxel of a kilometre.
const maxScale = 1e12

// UnmarshalJSON accepts [x, y, z] in nm and {"factor": [x, y, z], "unit": "nanometer"}.
// A unit that is not known, or a size that no voxel has, leaves the scale unknown.
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
	if err := unmarshal3(v.Factor, (*[3]float64)(s), "scale"); err != nil {
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

// maxProperties bounds the size of a metadata file that is read into memory.
const maxProperties = 64 << 20

// ReadProperties reads the metadata file of the dataset in dir.
func ReadProperties(fsys fs.FS, dir string) (*Properties, error) {
	name := path.Join(dir, PropertiesFile)
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxProperties {
		return nil, fmt.Errorf("%s: %d bytes, more than the limit of %d", name, info.Size(), maxProperties)
	}
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var p Properties
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &p, nil
}

// layer returns the properties of the layer; nil where there are none.
func (p *Properties) layer(name string) *LayerProperties {
	if p == nil {
		return nil
	}
	for i := range p.Layers {
		if p.Layers[i].Name == name {
			return &p.Layers[i]
		}
	}
	return nil
}

// scale returns the voxel size of mag 1 in nm.
func (p *Properties) scale() Scale {
	if p == nil {
		return Scale{}
	}
	return p.Scale
}

// isWKW reports whether the layer's data is said to be in our format.
func (l *LayerProperties) isWKW() bool { return l.DataFormat == "" || l.DataFormat == "wkw" }

// mags returns the mags under whichever name they were given.
func (l *LayerProperties) mags() []MagProperties {
	if l == nil {
		return nil
	}
	return append(l.Mags[:len(l.Mags):len(l.Mags)], l.WKWResolutions...)
}

// maxCoordinate bounds what a bounding box may say, so that sums and products with
// sides and factors cannot overflow.
const maxCoordinate = 1 << 40

// box returns the layer's bounding box in voxels of the mag: the begin rounded down,
// the end rounded up. False where it is not known, empty or beyond all reason.
func (l *LayerProperties) box(f volume.Factor) (volume.Box, bool) {
	if l == nil || l.BoundingBox == nil {
		return volume.Box{}, false
	}
	size := volume.Vec{l.BoundingBox.Width, l.BoundingBox.Height, l.BoundingBox.Depth}
	for axis := range 3 {
		at, n := l.BoundingBox.TopLeft[axis], size[axis]
		if n < 1 || n > maxCoordinate || at < -maxCoordinate || at > maxCoordinate || f[axis] < 1 {
			return volume.Box{}, false
		}
	}
	lo := volume.Vec(l.BoundingBox.TopLeft)
	factor := volume.Vec(f)
	return volume.Box{Min: lo.Div(factor), Max: lo.Add(size).CeilDiv(factor)}, true
}

// localPath turns the path of a mag in the metadata into a path inside the dataset.
// It is false for what leads elsewhere: absolute paths, URIs, "..".
func localPath(p string) (string, bool) {
	if p == "" || strings.Contains(p, "://") || path.IsAbs(p) {
		return "", false
	}
	p = path.Clean(p)
	return p, fs.ValidPath(p) && p != "."
}

// plainName reports whether a name from metadata can be the name of a directory entry.
func plainName(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, "/") && !strings.ContainsRune(name, 0)
}
