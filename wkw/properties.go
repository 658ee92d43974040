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
	TopLeft volume.Vec `json:"topLeft"`
	Width   int        `json:"width"`
	Height  int        `json:"height"`
	Depth   int        `json:"depth"`
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
	return json.Unmarshal(b, (*volume.Vec)(f))
}

// Scale is the voxel size of mag 1 in nm; 0 where it is not known.
type Scale [3]float64

// nanometres per unit, by the names that webKNOSSOS gives to units.
var nanometres = map[string]float64{
	"angstrom": 0.1, "nanometer": 1, "micrometer": 1e3, "millimeter": 1e6, "centimeter": 1e7, "meter": 1e9, "picometer": 1e-3,
}

// UnmarshalJSON accepts [x, y, z] in nm and {"factor": [x, y, z], "unit": "nanometer"}.
func (s *Scale) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*[3]float64)(s)); err == nil {
		return nil
	}
	var v struct {
		Factor [3]float64 `json:"factor"`
		Unit   string     `json:"unit"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	nm, ok := nanometres[v.Unit]
	if !ok {
		return fmt.Errorf("scale: unknown unit %q", v.Unit)
	}
	*s = Scale{v.Factor[0] * nm, v.Factor[1] * nm, v.Factor[2] * nm}
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
	lo := l.BoundingBox.TopLeft
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
