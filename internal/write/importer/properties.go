package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// metadata is the content of datasource-properties.json. Unknown fields and other layers are written as they were read,
// in the same order.
type metadata struct {
	path   string
	fields []jsonlimit.Member // of the object; empty if there is no file
	layers []json.RawMessage
	known  *webknossos.Properties
}

const layersField = "dataLayers"

// readMetadata reads the metadata of the dataset in dir. Without a file, it returns empty metadata.
func readMetadata(dir string) (*metadata, error) {
	m := &metadata{path: filepath.Join(dir, webknossos.PropertiesFile), known: &webknossos.Properties{}}
	known, err := webknossos.ReadProperties(os.DirFS(dir), ".")
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	m.known = known
	b, err := os.ReadFile(m.path) // its size was checked
	if err != nil {
		return nil, err
	}
	if m.fields, err = jsonlimit.Members(b, maxFields); err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	for _, f := range m.fields {
		if f.Name == layersField {
			if err := json.Unmarshal(f.Value, &m.layers); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", m.path, layersField, err)
			}
		}
	}
	return m, nil
}

// maxFields limits the fields of the metadata. No real dataset reaches it.
const maxFields = 10_000

// scale returns the voxel size of mag 1 in nm, or zeros if it is unknown.
func (m *metadata) scale() webknossos.Scale { return m.known.Scale }

// cubeSide returns the side of the cubes of a layer in voxels, or 0 if there is none with cubes.
func (m *metadata) cubeSide() int {
	for _, raw := range m.layers {
		var l layerJSON
		if json.Unmarshal(raw, &l) != nil || l.DataFormat != "wkw" {
			continue
		}
		for _, mag := range l.Mags {
			if n := mag.CubeLength; n > 0 && n&(n-1) == 0 && n <= maxCube {
				return n
			}
		}
	}
	return 0
}

// has reports whether a layer of the name exists.
func (m *metadata) has(layer string) bool {
	for _, l := range m.known.Layers {
		if l.Name == layer {
			return true
		}
	}
	return false
}

// set sets a field. With keep, it does not change an existing field.
func (m *metadata) set(name string, value any, keep bool) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	for i := range m.fields {
		if m.fields[i].Name == name {
			if !keep {
				m.fields[i].Value = b
			}
			return nil
		}
	}
	m.fields = append(m.fields, jsonlimit.Member{Name: name, Value: b})
	return nil
}

// The JSON that WEBKNOSSOS writes and its Python library reads.
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
	axesJSON struct {
		C int `json:"c"`
		X int `json:"x"`
		Y int `json:"y"`
		Z int `json:"z"`
	}
	magJSON struct {
		Mag        volume.Factor `json:"mag"`
		Path       string        `json:"path"`                 // relative to the dataset
		CubeLength int           `json:"cubeLength,omitempty"` // of WKW
		AxisOrder  *axesJSON     `json:"axisOrder,omitempty"`  // of Zarr
	}
)

// changeMetadata reads the metadata of a dataset, and replaces them by what change makes of them. One process at a time
// does so. It reads them again, until change reports that they are as they should be: other programs, and those on file
// systems without locks, may replace them, too.
func changeMetadata(ctx context.Context, dataset string, waits func(),
	change func(*metadata) (changed bool, err error)) error {
	lock, err := lockMetadata(ctx, dataset, waits)
	if err != nil {
		return err
	}
	defer lock.Release()
	for range maxChanges {
		m, err := readMetadata(dataset)
		if err != nil {
			return err
		}
		if changed, err := change(m); err != nil || !changed {
			return err
		}
		if err := m.replace(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", filepath.Join(dataset, webknossos.PropertiesFile), errChanging)
}

// maxChanges is how often the metadata are replaced, until another program has not changed them at the same time.
const maxChanges = 10

var errChanging = errors.New("another program changes it again and again")

// replace writes the file.
func (m *metadata) replace() error {
	b, err := object(m.fields)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b, "", "    "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	return replaceFile(m.path, indented.Bytes())
}

// object returns a JSON object with the members. Unlike json.Marshal, it does not change their values.
func object(members []jsonlimit.Member) ([]byte, error) {
	var b bytes.Buffer
	names := json.NewEncoder(&b)
	names.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := names.Encode(m.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// raiseLargest raises the largest id of a layer, and reports whether that changed it. If the metadata of the layer has
// no largest id, it gets none.
func (m *metadata) raiseLargest(layer string, largest uint64) (changed bool, err error) {
	for i, raw := range m.layers {
		var l layerJSON
		if json.Unmarshal(raw, &l) != nil || l.Name != layer || l.Largest == nil || *l.Largest >= largest {
			continue
		}
		members, err := jsonlimit.Members(raw, maxFields)
		if err != nil {
			return false, fmt.Errorf("%s: layer %q: %w", m.path, layer, err)
		}
		for j := range members {
			if members[j].Name == "largestSegmentId" {
				members[j].Value = json.RawMessage(strconv.FormatUint(largest, 10))
			}
		}
		if m.layers[i], err = object(members); err != nil {
			return false, err
		}
		m.setLayers()
		return true, nil
	}
	return false, nil
}

// setLayer adds the layer, or replaces the layer of the same name. It reports whether that changed the metadata. Other
// layers may have been added during the import: it fails if one of them has the name, or another voxel size.
func (m *metadata) setLayer(l *layer) (changed bool, err error) {
	described, err := json.Marshal(l.properties())
	if err != nil {
		return false, err
	}
	index := len(m.layers)
	for i, raw := range m.layers {
		var other webknossos.LayerProperties
		if json.Unmarshal(raw, &other) == nil && other.Name == l.Layer {
			index = i
		}
	}
	if index < len(m.layers) {
		if isSameJSON(m.layers[index], described) {
			return false, nil
		}
		if !l.listed {
			return false, fmt.Errorf("%s: layer %s: %w", m.path, l.Layer, ErrReplaced)
		}
	}
	if err := l.setVoxelSize(m); err != nil {
		return false, err
	}
	m.layers = append(m.layers[:index:index], append([]json.RawMessage{described},
		m.layers[min(index+1, len(m.layers)):]...)...)
	err = errors.Join(
		m.set("id", idJSON{Name: filepath.Base(filepath.Dir(m.path))}, true),
		m.set("scale", scaleJSON{l.VoxelSize, "nanometer"}, m.scale() != webknossos.Scale{}))
	m.setLayers()
	return true, err
}

// isSameJSON reports whether two values differ in white space only.
func isSameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// setLayers sets the field of the layers. It does not use json.Marshal, which would escape "<" in the layers.
func (m *metadata) setLayers() {
	raw := make([][]byte, len(m.layers))
	for i, l := range m.layers {
		raw[i] = l
	}
	joined := json.RawMessage("[" + string(bytes.Join(raw, []byte(","))) + "]")
	for i := range m.fields {
		if m.fields[i].Name == layersField {
			m.fields[i].Value = joined
			return
		}
	}
	m.fields = append(m.fields, jsonlimit.Member{Name: layersField, Value: joined})
}

func (l *layer) properties() layerJSON {
	size := l.box.Size()
	p := layerJSON{
		Name:         l.Layer,
		Category:     l.Category,
		BoundingBox:  boxJSON{l.box.Min, size[0], size[1], size[2]},
		ElementClass: elementClass(l.in.Grid.Type, l.in.Grid.Channels),
		DataFormat:   l.Format.String(),
		NumChannels:  l.in.Grid.Channels,
	}
	if l.Category == Segmentation {
		largest := l.largest.Load()
		p.Largest = &largest
	}
	for _, f := range l.factors {
		m := magJSON{Mag: f, Path: fmt.Sprintf("./%s/%v", l.Layer, f)}
		if l.Format == pyramid.Zarr3 {
			m.AxisOrder = &axesJSON{C: 0, X: 1, Y: 2, Z: 3}
		} else {
			m.CubeLength = l.Cube
		}
		p.Mags = append(p.Mags, m)
	}
	return p
}

// elementClass returns WEBKNOSSOS's name of a voxel type: that of one number as wide as all channels, such as uint24.
// The names of floats are float and double.
func elementClass(t volume.Type, channels int) string {
	kind := "int"
	switch {
	case t.IsUnsigned():
		kind = "uint"
	case t.IsFloat():
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
