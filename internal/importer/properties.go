package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// metadata is datasource-properties.json, with all that is in it: fields that we do not
// know, and layers that are not ours, are written as they were read, in their order.
type metadata struct {
	path   string
	fields []field // of the object; none where there was no file
	layers []json.RawMessage
	known  *wkw.Properties
}

// field is a member of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

const layersField = "dataLayers"

// readMetadata reads the metadata of the dataset in dir, if there is a file.
func readMetadata(dir string) (*metadata, error) {
	m := &metadata{path: filepath.Join(dir, wkw.PropertiesFile), known: &wkw.Properties{}}
	known, err := wkw.ReadProperties(os.DirFS(dir), ".")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	m.known = known
	b, err := os.ReadFile(m.path)
	if err != nil {
		return nil, err
	}
	if m.fields, err = readFields(b); err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	for _, f := range m.fields {
		if f.name == layersField {
			if err := json.Unmarshal(f.value, &m.layers); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", m.path, layersField, err)
			}
		}
	}
	return m, nil
}

// readFields reads an object without a look into its values.
func readFields(b []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("expected an object, found %v: %w", t, err)
	}
	var all []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		f := field{name: name.(string)} // of a valid object, which it is: it was read before
		if err := d.Decode(&f.value); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// scale returns the voxel size of mag 1 in nm; 0 where it is not known.
func (m *metadata) scale() wkw.Scale { return m.known.Scale }

// has reports whether there is a layer of the name.
func (m *metadata) has(layer string) bool {
	for _, l := range m.known.Layers {
		if l.Name == layer {
			return true
		}
	}
	return false
}

// set sets a field, unless there is one and it is to be kept.
func (m *metadata) set(name string, value any, keep bool) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	for i := range m.fields {
		if m.fields[i].name == name {
			if !keep {
				m.fields[i].value = b
			}
			return nil
		}
	}
	m.fields = append(m.fields, field{name, b})
	return nil
}

// The forms that webKNOSSOS writes today, and its Python library reads.
type (
	idJSON struct {
		Name string `json:"name"`
		Team string `json:"team"`
	}
	scaleJSON struct {
		Factor [3]float64 `json:"factor"`
		Unit   string     `json:"unit"`
	}
	layerJSON struct {
		Name         string    `json:"name"`
		Category     string    `json:"category"`
		BoundingBox  boxJSON   `json:"boundingBox"`
		ElementClass string    `json:"elementClass"`
		DataFormat   string    `json:"dataFormat"`
		NumChannels  int       `json:"numChannels"`
		Largest      *uint64   `json:"largestSegmentId,omitempty"` // of segmentations
		Mags         []magJSON `json:"mags"`
	}
	boxJSON struct { // in voxels of mag 1
		TopLeft volume.Vec `json:"topLeft"`
		Width   int        `json:"width"`
		Height  int        `json:"height"`
		Depth   int        `json:"depth"`
	}
	magJSON struct {
		Mag        volume.Factor `json:"mag"`
		Path       string        `json:"path"` // relative to the dataset
		CubeLength int           `json:"cubeLength"`
	}
)

// write enters the layer and writes the file. It is read anew: other layers may have come
// while this one was written.
func (m *metadata) write(l *layer) error {
	now, err := readMetadata(filepath.Dir(m.path))
	if err != nil {
		return err
	}
	if err := now.enter(l); err != nil {
		return err
	}
	var flat, b bytes.Buffer
	flat.WriteByte('{')
	for i, f := range now.fields {
		if i > 0 {
			flat.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return err
		}
		flat.Write(name)
		flat.WriteByte(':')
		flat.Write(f.value)
	}
	flat.WriteByte('}')
	if err := json.Indent(&b, flat.Bytes(), "", "    "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return replaceFile(now.path, b.Bytes())
}

func (m *metadata) enter(l *layer) error {
	described, err := json.Marshal(l.properties())
	if err != nil {
		return err
	}
	place := len(m.layers)
	for i, raw := range m.layers {
		var other wkw.LayerProperties
		if json.Unmarshal(raw, &other) == nil && other.Name == l.Layer {
			place = i
		}
	}
	m.layers = append(m.layers[:place:place], append([]json.RawMessage{described}, m.layers[min(place+1, len(m.layers)):]...)...)
	return errors.Join(
		m.set("id", idJSON{Name: filepath.Base(filepath.Dir(m.path))}, true),
		m.set("scale", scaleJSON{l.Scale, "nanometer"}, m.scale() != wkw.Scale{}),
		m.setLayers())
}

// setLayers joins the layers by hand: json.Marshal would write "<" in them in another way.
func (m *metadata) setLayers() error {
	raw := make([][]byte, len(m.layers))
	for i, l := range m.layers {
		raw[i] = l
	}
	joined := json.RawMessage("[" + string(bytes.Join(raw, []byte(","))) + "]")
	for i := range m.fields {
		if m.fields[i].name == layersField {
			m.fields[i].value = joined
			return nil
		}
	}
	m.fields = append(m.fields, field{layersField, joined})
	return nil
}

func (l *layer) properties() layerJSON {
	size := l.box.Size()
	p := layerJSON{
		Name:         l.Layer,
		Category:     l.Category,
		BoundingBox:  boxJSON{l.box.Min, size[0], size[1], size[2]},
		ElementClass: elementClass(l.in.Grid.Type, l.in.Grid.Channels),
		DataFormat:   "wkw",
		NumChannels:  l.in.Grid.Channels,
	}
	if l.Category == Segmentation {
		largest := l.largest.Load()
		p.Largest = &largest
	}
	for _, f := range l.factors {
		p.Mags = append(p.Mags, magJSON{f, fmt.Sprintf("./%s/%v", l.Layer, f), l.Cube})
	}
	return p
}

// elementClass returns webKNOSSOS's name of a voxel's type: that of one number as wide as
// all its channels, such as uint24; and float and double.
func elementClass(t volume.Type, channels int) string {
	kind := "uint"
	switch t {
	case volume.Int8, volume.Int16, volume.Int32, volume.Int64:
		kind = "int"
	case volume.Float32, volume.Float64:
		kind = "float"
	}
	switch name := fmt.Sprint(kind, 8*t.Size()*channels); name {
	case "float32":
		return "float"
	case "float64":
		return "double"
	default:
		return name
	}
}
