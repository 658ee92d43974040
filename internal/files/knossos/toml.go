package knossos

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/wkwfs/wkwfs/internal/small/jsonlimit"
	"github.com/wkwfs/wkwfs/volume"
)

// maxLayers limits the layers of a configuration.
const maxLayers = 1000

// tomlLayer is a layer of a .k.toml.
type tomlLayer struct {
	Name         string
	URL          string
	ServerFormat string
	VoxelSize    any `toml:"VoxelSize_nm"` // three numbers, or a list of them
	Extent       any `toml:"Extent_px"`
	CubeShape    any `toml:"CubeShape_px"`
	Suffixes     any `toml:"FileExtension"` // a text, or a list of them
}

// parseTOML parses the layers of a .k.toml. An error of a layer is in its place.
func parseTOML(b []byte) (layers []config, faults []error, err error) {
	var file struct{ Layer []tomlLayer }
	if err := toml.Unmarshal(b, &file); err != nil {
		return nil, nil, &volume.FormatError{Part: "TOML", Offset: -1, Err: err}
	}
	if n := len(file.Layer); n < 1 || n > maxLayers {
		return nil, nil, fault("Layer", "1 to 1,000 layers", n)
	}
	for _, l := range file.Layer {
		c, err := l.config()
		layers, faults = append(layers, c), append(faults, err)
	}
	nameLayers(layers)
	return layers, faults, nil
}

// config returns what a layer says.
func (l tomlLayer) config() (c config, err error) {
	c = config{base: l.Name, ordinal: true, cube: volume.Cube(usualCube)}
	if c.suffixes, err = texts(l.Suffixes); err != nil {
		return c, fault("FileExtension", "texts", l.Suffixes)
	}
	if c.dir, err = folderOf(l.URL); err != nil {
		return c, err
	}
	if f := strings.ToLower(l.ServerFormat); f != "" && f != "knossos" && f != "pyknossos" {
		return c, &volume.UnsupportedError{
			Part: "ServerFormat", Offset: -1,
			Expected: "knossos or pyknossos", Found: jsonlimit.Abbreviate(l.ServerFormat),
		}
	}
	if c.size, err = vec(numbers(l.Extent)); err != nil {
		return c, fault("Extent_px", "three whole numbers", l.Extent)
	}
	if l.CubeShape != nil {
		if c.cube, err = vec(numbers(l.CubeShape)); err != nil {
			return c, fault("CubeShape_px", "three whole numbers", l.CubeShape)
		}
	}
	rows, _ := l.VoxelSize.([]any)
	if all := numbers(l.VoxelSize); len(all) == 3 {
		rows = []any{l.VoxelSize}
	}
	for _, row := range rows {
		n := numbers(row)
		if len(n) != 3 {
			return c, fault("VoxelSize_nm", "three numbers for each mag", l.VoxelSize)
		}
		c.spacing = append(c.spacing, [3]float64(n))
	}
	return c, nil
}

// folderOf returns the folder that the URL of a layer names. It lies in the folder of the configuration.
func folderOf(url string) (string, error) {
	if dir := path.Clean(strings.TrimSuffix(url, "/")); !strings.Contains(url, ":") && fs.ValidPath(dir) {
		return dir, nil
	}
	return "", &volume.UnsupportedError{
		Part: "URL", Offset: -1,
		Expected: "a folder below that of the configuration", Found: jsonlimit.Abbreviate(url),
	}
}

// numbers returns a list of numbers. It returns nil if it is another value.
func numbers(list any) (all []float64) {
	items, _ := list.([]any)
	for _, item := range items {
		switch n := item.(type) {
		case int64:
			all = append(all, float64(n))
		case float64:
			all = append(all, n)
		default:
			return nil
		}
	}
	return all
}

// texts returns a text, or a list of them. It returns nil for nil.
func texts(value any) (all []string, err error) {
	if s, ok := value.(string); ok {
		return []string{s}, nil
	}
	items, ok := value.([]any)
	if !ok && value != nil {
		return nil, errors.New("another value")
	}
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			return nil, errors.New("another value")
		}
		all = append(all, s)
	}
	return all, nil
}

// nameLayers gives layers names of their own: those of their cubes, and of their folders where these are equal.
func nameLayers(layers []config) {
	if len(layers) == 1 {
		return
	}
	taken := map[string]bool{}
	for i := range layers {
		c := &layers[i]
		c.name = c.base
		if dir := path.Base(c.dir); taken[c.name] && dir != "." && dir != "" {
			c.name += "_" + dir
		}
		if isSegmentation := len(c.suffixes) > 0 && strings.HasPrefix(c.suffixes[0], ".seg"); taken[c.name] &&
			isSegmentation {
			c.name += "_segmentation"
		}
		taken[c.name] = true
	}
}
