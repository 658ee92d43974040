package webknossos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// PropertiesFile is the name of the metadata file of a dataset.
const PropertiesFile = "datasource-properties.json"

// JournalFile is the name of a file in the directory of a layer while wkwfs imports it. If it stays, the import is not
// finished.
const JournalFile = ".import.json"

// Properties is the part of datasource-properties.json that the package uses. It has the fields of all versions of
// the file.
type Properties struct {
	Scale  Scale             `json:"scale"`
	Layers []LayerProperties `json:"dataLayers"`

	byName  map[string]*LayerProperties // nil if it was not parsed
	invalid []invalidLayer              // what is not in Layers
}

// invalidLayer is a layer whose properties cannot be parsed, or that has the name of one before it.
type invalidLayer struct {
	name  string // that of the metadata, or "layer 0" if that is unknown
	taken bool   // another layer has the name
	err   error
}

// Limits of the metadata file. No real dataset reaches them. Without them, a file of some megabytes could fill the
// memory.
const (
	maxProperties   = 16 << 20 // bytes of the file
	maxLayers       = 10_000
	maxMags         = 1000    // of a layer
	maxMagsOfLayers = 100_000 // of all layers
)

// UnmarshalJSON parses the layers one after the other. An invalid one does not affect the others.
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
		for raw, err := range jsonlimit.Values[json.RawMessage](v.Layers, maxLayers, "layers") {
			var l LayerProperties
			if err == nil {
				err = json.Unmarshal(raw, &l)
			} else {
				return fmt.Errorf("dataLayers: %w", err)
			}
			if _, tooMany := errors.AsType[*jsonlimit.TooManyError](err); tooMany {
				return fmt.Errorf("dataLayers: %w", err)
			}
			if err != nil {
				p.invalid = append(p.invalid, invalidLayer{name: nameOfLayer(raw, len(p.Layers)+len(p.invalid)),
					err: fmt.Errorf("dataLayers: %w", err)})
				continue
			}
			if mags += len(l.Mags) + len(l.WKWResolutions); mags > maxMagsOfLayers {
				return fmt.Errorf("dataLayers: expected at most %d mags of all layers, found more", maxMagsOfLayers)
			}
			p.Layers = append(p.Layers, l)
		}
	}
	p.indexLayers()
	return nil
}

// indexLayers makes byName. A layer with the name of one before it becomes invalid.
func (p *Properties) indexLayers() {
	p.byName = make(map[string]*LayerProperties, len(p.Layers))
	all := p.Layers
	p.Layers = all[:0] // at most as long as what was read: pointers into it stay valid
	for _, l := range all {
		if p.byName[l.Name] != nil {
			err := fmt.Errorf("dataLayers: layer %q: expected a name of its own, found that of a layer before it",
				jsonlimit.Abbreviate(l.Name))
			p.invalid = append(p.invalid, invalidLayer{name: l.Name, err: err})
			continue
		}
		p.Layers = append(p.Layers, l)
		p.byName[l.Name] = &p.Layers[len(p.Layers)-1]
	}
	for i := range p.invalid {
		p.invalid[i].taken = p.byName[p.invalid[i].name] != nil
	}
}

// nameOfLayer returns the name of a layer that cannot be parsed. It is made of its number if that cannot be, either.
func nameOfLayer(raw []byte, number int) string {
	var l struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &l) != nil || l.Name == "" {
		return fmt.Sprintf("layer %d", number)
	}
	return l.Name
}

// err returns the errors of the layers that are not in Layers. It returns nil if there are none.
func (p *Properties) err() error {
	var all []error
	for _, l := range p.invalid {
		all = append(all, l.err)
	}
	return errors.Join(all...)
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

// ViewProperties says how WEBKNOSSOS shows a layer at first. It has no effect on voxels, so what is not valid in it is
// ignored.
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

// ReadProperties reads the metadata file of the dataset in directory dir of fsys. If there is none, the error is
// fs.ErrNotExist. A file of more than 16 MiB, of more than 10,000 layers, or of a layer with more than 1,000 mags is an
// error. So is a layer that cannot be parsed, or has the name of another.
func ReadProperties(fsys fs.FS, dir string) (*Properties, error) {
	p, err := ReadValidProperties(fsys, dir)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ReadValidProperties is ReadProperties for readers that can do without some layers. If layers cannot be parsed, or
// have the name of one before them, it returns the others, and the error of those.
func ReadValidProperties(fsys fs.FS, dir string) (*Properties, error) {
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
	if err := p.err(); err != nil {
		return &p, fmt.Errorf("%s: %w", name, err)
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
	return len(name) <= maxName && fs.ValidPath(name) && name != "." && !strings.Contains(name, "/") &&
		!strings.ContainsRune(name, 0)
}
