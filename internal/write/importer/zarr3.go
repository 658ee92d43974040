package importer

import (
	"encoding/json"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/write/pyramid"
	"github.com/wkwfs/wkwfs/volume"
)

// zarrFile is the name of the metadata file of arrays and groups of Zarr 3.
const zarrFile = "zarr.json"

// axisNames are the axes of the arrays that WEBKNOSSOS writes.
var axisNames = [4]string{"c", "x", "y", "z"}

// The JSON of Zarr 3 (Zarr core specification 3.0) and OME-Zarr 0.5.
type (
	codecJSON struct {
		Name   string         `json:"name"`
		Config map[string]any `json:"configuration,omitempty"`
	}
	zarrArrayJSON struct {
		Format     int            `json:"zarr_format"`
		Node       string         `json:"node_type"`
		Shape      [4]int         `json:"shape"`
		Type       string         `json:"data_type"`
		Grid       codecJSON      `json:"chunk_grid"`
		Keys       codecJSON      `json:"chunk_key_encoding"`
		Fill       int            `json:"fill_value"`
		Codecs     []codecJSON    `json:"codecs"`
		Attributes map[string]any `json:"attributes"`
		Dimensions [4]string      `json:"dimension_names"`
	}
	zarrGroupJSON struct {
		Format     int            `json:"zarr_format"`
		Node       string         `json:"node_type"`
		Attributes map[string]any `json:"attributes"`
	}
	omeAxisJSON struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Unit string `json:"unit,omitempty"`
	}
	omeScaleJSON struct {
		Type  string     `json:"type"`
		Scale [4]float64 `json:"scale"`
	}
	omeDatasetJSON struct {
		Path       string          `json:"path"`
		Transforms [1]omeScaleJSON `json:"coordinateTransformations"`
	}
)

// config is the configuration of a codec.
type config = map[string]any

// zarrArray describes a mag as WEBKNOSSOS writes it: in shards, which are cubes, of inner chunks, which are blocks.
// Position 0 is that of the dataset. The shape is rounded up to whole shards.
func (l *layer) zarrArray(f volume.Factor) zarrArrayJSON {
	g, channels := l.header().Grid(), l.in.Grid.Channels
	size := l.box.Max.CeilDiv(volume.Vec(f)).CeilDiv(g.Size).Mul(g.Size)
	axes := func(v volume.Vec) [4]int { return [4]int{channels, v[0], v[1], v[2]} }
	blocks := []codecJSON{
		{"transpose", config{"order": []int{3, 2, 1, 0}}},
		{"bytes", config{"endian": "little"}},
		{"zstd", config{"level": pyramid.ZstdLevel, "checksum": true}},
	}
	index := []codecJSON{{"bytes", config{"endian": "little"}}, {Name: "crc32c"}}
	return zarrArrayJSON{
		Format: 3, Node: "array", Shape: axes(size), Type: g.Type.String(),
		Grid: codecJSON{"regular", config{"chunk_shape": axes(g.Size)}},
		Keys: codecJSON{"default", config{"separator": "/"}},
		Codecs: []codecJSON{{"sharding_indexed", config{
			"chunk_shape": axes(g.Block), "codecs": blocks, "index_codecs": index, "index_location": "end",
		}}},
		Attributes: map[string]any{}, Dimensions: axisNames,
	}
}

// zarrGroup describes the layer as a multiscale image of OME-Zarr 0.5.
func (l *layer) zarrGroup() zarrGroupJSON {
	axes := []omeAxisJSON{{Name: axisNames[0], Type: "channel"}}
	for _, name := range axisNames[1:] {
		axes = append(axes, omeAxisJSON{name, "space", "nanometer"})
	}
	var mags []omeDatasetJSON
	for _, f := range l.factors {
		scale := [4]float64{1}
		for axis := range 3 {
			scale[1+axis] = l.VoxelSize[axis] * float64(f[axis])
		}
		mags = append(mags, omeDatasetJSON{f.String(), [1]omeScaleJSON{{"scale", scale}}})
	}
	multiscale := map[string]any{"axes": axes, "datasets": mags}
	return zarrGroupJSON{3, "group", map[string]any{"ome": map[string]any{"version": "0.5",
		"multiscales": []any{multiscale}}}}
}

// writeZarr writes zarr.json into a directory.
func writeZarr(dir string, content any) error {
	b, err := json.MarshalIndent(content, "", "    ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, zarrFile), append(b, '\n'))
}
