package wkw

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// PropertiesFile is the name of the metadata file of a dataset.
const PropertiesFile = "datasource-properties.json"

// Properties is the part of datasource-properties.json that the package uses. It has the fields of all versions of
// the file.
type Properties struct {
	Scale  Scale             `json:"scale"`
	Layers []LayerProperties `json:"dataLayers"`

	byName map[string]*LayerProperties // the first of each name; nil if it was not parsed
}

// Limits of the metadata file. No real dataset reaches them. Without them, a file of some megabytes could fill the
// memory.
const (
	maxProperties   = 16 << 20 // bytes of the file
	maxLayers       = 10_000
	maxMags         = 1000    // of a layer
	maxMagsOfLayers = 100_000 // of all layers
)

// UnmarshalJSON parses the layers one after the other.
func (p *Properties) UnmarshalJSON(b []byte) error {
	var v struct {
		Scale  Scale           `json:"scale"`
		Layers json.RawMessage `json:"dataLayers"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*p = Properties{Scale: v.Scale}
	mags := 0
	if v.Layers != nil {
		for l, err := range jsonlimit.Values[LayerProperties](v.Layers, maxLayers, "layers") {
			if err != nil {
				return fmt.Errorf("dataLayers: %w", err)
			}
			if mags += len(l.Mags) + len(l.WKWResolutions); mags > maxMagsOfLayers {
				return fmt.Errorf("dataLayers: expected at most %d mags of all layers, found more", maxMagsOfLayers)
			}
			p.Layers = append(p.Layers, l)
		}
	}
	p.byName = make(map[string]*LayerProperties, len(p.Layers))
	for i := range p.Layers {
		if l := &p.Layers[i]; p.byName[l.Name] == nil {
			p.byName[l.Name] = l
		}
	}
	return nil
}

// LayerProperties describes one layer.
type LayerProperties struct {
	Name           string          `json:"name"`
	Category       string          `json:"category"`     // color or segmentation
	ElementClass   string          `json:"elementClass"` // type of a voxel; uint24 is three uint8
	NumChannels    int             `json:"numChannels"`
	DataFormat     string          `json:"dataFormat"` // empty means wkw
	BoundingBox    *BoundingBox    `json:"boundingBox"`
	Mags           []MagProperties `json:"mags"`
	WKWResolutions []MagProperties `json:"wkwResolutions"` // the former name of mags
	View           ViewProperties  `json:"defaultViewConfiguration"`
	AdminView      ViewProperties  `json:"adminViewConfiguration"` // WEBKNOSSOS prefers it to View
}

// Window returns the window in which WEBKNOSSOS shows the layer at first. It is zero if that is not known.
func (l *LayerProperties) Window() volume.Window {
	for _, v := range []ViewProperties{l.AdminView, l.View} {
		if v != (ViewProperties{}) {
			return volume.Window{Low: v.IntensityRange[0], High: v.IntensityRange[1]}
		}
	}
	return volume.Window{}
}

// UnmarshalJSON parses the mags one after the other.
func (l *LayerProperties) UnmarshalJSON(b []byte) error {
	type plain LayerProperties // without this method
	var v struct {
		plain
		Mags           json.RawMessage `json:"mags"`
		WKWResolutions json.RawMessage `json:"wkwResolutions"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*l = LayerProperties(v.plain)
	for _, list := range []struct {
		field string
		value json.RawMessage
		to    *[]MagProperties
	}{{"mags", v.Mags, &l.Mags}, {"wkwResolutions", v.WKWResolutions, &l.WKWResolutions}} {
		if list.value == nil {
			continue
		}
		var err error
		if *list.to, err = jsonlimit.List[MagProperties](list.value, maxMags, "mags"); err != nil {
			return fmt.Errorf("layer %q: %s: %w", jsonlimit.Abbreviate(l.Name), list.field, err)
		}
	}
	return nil
}

// ViewProperties says how WEBKNOSSOS shows a layer at first. It has no effect on voxels, so what is not valid in it is ignored.
type ViewProperties struct {
	IntensityRange [2]float64 `json:"intensityRange"` // the values that are black and white; zero if not known
}

// UnmarshalJSON accepts everything. A range that is not two finite numbers, the lower one first, is zero.
func (v *ViewProperties) UnmarshalJSON(b []byte) error {
	*v = ViewProperties{}
	var fields struct {
		IntensityRange json.RawMessage `json:"intensityRange"`
	}
	if json.Unmarshal(b, &fields) != nil || fields.IntensityRange == nil {
		return nil
	}
	ends, err := jsonlimit.List[float64](fields.IntensityRange, 2, "numbers")
	if err == nil && len(ends) == 2 && ends[0] < ends[1] {
		v.IntensityRange = [2]float64(ends)
	}
	return nil
}

// BoundingBox is the box of a layer in voxels of mag 1.
type BoundingBox struct {
	TopLeft Corner `json:"topLeft"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Depth   int    `json:"depth"`
}

// Corner is a position, stored as [x, y, z].
type Corner volume.Vec

// UnmarshalJSON accepts exactly three numbers.
func (c *Corner) UnmarshalJSON(b []byte) error { return unmarshal3(b, (*[3]int)(c), "topLeft") }

// unmarshal3 parses a list of three numbers. The json package would accept a list of any length, and so move or
// resize a box.
func unmarshal3[T int | float64](b []byte, to *[3]T, field string) error {
	list, err := jsonlimit.List[T](b, len(to), "numbers")
	if err != nil || len(list) != len(to) {
		return fmt.Errorf("%s: expected 3 numbers of type %T, found %s", field, to[0], jsonlimit.Abbreviate(b))
	}
	copy(to[:], list)
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
	var n int
	if err := json.Unmarshal(b, &n); err == nil {
		*f = FactorProperty{n, n, n}
		return nil
	}
	return unmarshal3(b, (*[3]int)(f), "mag")
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

// ReadProperties reads the metadata file of the dataset in directory dir of fsys. If there is none, the error is
// fs.ErrNotExist. A file of more than 16 MiB, of more than 10,000 layers, or of a layer with more than 1,000 mags is an
// error.
func ReadProperties(fsys fs.FS, dir string) (*Properties, error) {
	name := path.Join(dir, PropertiesFile)
	info, err := fs.Stat(fsys, name)
	if err == nil {
		err = vfs.CheckKind(name, info, 0)
	}
	if err != nil {
		return nil, vfs.CheckAbsent(fsys, dir, name, err)
	}
	b, err := jsonlimit.ReadFile(fsys, name, maxProperties)
	if err != nil {
		return nil, err
	}
	var p Properties
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &p, nil
}

// layer returns the properties of a layer. It returns nil if there are none.
func (p *Properties) layer(name string) *LayerProperties {
	if p == nil {
		return nil
	}
	if p.byName != nil {
		return p.byName[name]
	}
	for i := range p.Layers {
		if p.Layers[i].Name == name {
			return &p.Layers[i]
		}
	}
	return nil
}

// scale returns the size of a voxel of mag 1 in nm.
func (p *Properties) scale() Scale {
	if p == nil {
		return Scale{}
	}
	return p.Scale
}

// isWKW reports whether the data format of the layer is WKW.
func (l *LayerProperties) isWKW() bool { return l.DataFormat == "" || l.DataFormat == "wkw" }

// mags returns the mags of both fields.
func (l *LayerProperties) mags() []MagProperties {
	if l == nil {
		return nil
	}
	return append(l.Mags[:len(l.Mags):len(l.Mags)], l.WKWResolutions...)
}

// maxCoordinate bounds the coordinates of a bounding box, so that sums and products with sides and factors cannot
// overflow.
const maxCoordinate = 1 << 40

// box returns the bounding box of the layer in voxels of a mag, rounded outwards. It returns false if the box is
// missing, empty or implausible.
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

// localPath returns the path of a mag in the metadata as a path inside the dataset. It returns false for a path that
// leads out of it: an absolute path, a URI, or one with "..".
func localPath(p string) (string, bool) {
	if p == "" || strings.Contains(p, "://") || path.IsAbs(p) {
		return "", false
	}
	p = path.Clean(p)
	return p, fs.ValidPath(p) && p != "."
}

// maxName is the length of the longest name that a directory entry can have, in bytes.
const maxName = 255

// plainName reports whether a name in the metadata can be the name of a directory entry.
func plainName(name string) bool {
	return len(name) <= maxName && fs.ValidPath(name) && name != "." && !strings.Contains(name, "/") && !strings.ContainsRune(name, 0)
}
