package sample

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wkwfs/wkwfs/internal/small/atomicfile"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/webknossos"
)

// properties is the content of datasource-properties.json as WEBKNOSSOS writes it.
type properties struct {
	ID         id                `json:"id"`
	Scale      scale             `json:"scale"`
	DataLayers []layerProperties `json:"dataLayers"`
}

type id struct {
	Name string `json:"name"`
	Team string `json:"team"`
}

type scale struct {
	Factor [3]float64 `json:"factor"`
	Unit   string     `json:"unit"`
}

type layerProperties struct {
	Name             string          `json:"name"`
	Category         string          `json:"category"`
	BoundingBox      boundingBox     `json:"boundingBox"`
	ElementClass     string          `json:"elementClass"`
	DataFormat       string          `json:"dataFormat"`
	NumChannels      int             `json:"numChannels"`
	LargestSegmentID *uint32         `json:"largestSegmentId,omitempty"` // of segmentations
	Mags             []magProperties `json:"mags"`
}

// boundingBox is in voxels of mag 1.
type boundingBox struct {
	TopLeft volume.Vec `json:"topLeft"`
	Width   int        `json:"width"`
	Height  int        `json:"height"`
	Depth   int        `json:"depth"`
}

type magProperties struct {
	Mag        volume.Vec `json:"mag"`
	Path       string     `json:"path"` // relative to the dataset
	CubeLength int        `json:"cubeLength"`
}

// writeProperties writes the metadata of the dataset in dir. It fails if there are some: another process may write into
// dir, too.
func writeProperties(dir string, o Options, largest uint32) error {
	p := properties{
		ID:    id{Name: filepath.Base(dir)},
		Scale: scale{Spacing, "nanometer"},
	}
	for _, l := range layers {
		p.DataLayers = append(p.DataLayers, o.describe(l, largest))
	}
	b, err := json.MarshalIndent(p, "", "    ")
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(filepath.Join(dir, webknossos.PropertiesFile), 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = atomicfile.RenameNew(f.Name(), filepath.Join(dir, webknossos.PropertiesFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (o Options) describe(l layer, largest uint32) layerProperties {
	size := o.Box.Size()
	p := layerProperties{
		Name:         l.name,
		Category:     l.category,
		BoundingBox:  boundingBox{o.Box.Min, size[0], size[1], size[2]},
		ElementClass: l.source(o.Tissue, Cut{}).Grid().Type.String(),
		DataFormat:   "wkw",
		NumChannels:  1,
	}
	if l.category == "segmentation" {
		p.LargestSegmentID = &largest
	}
	for _, mag := range o.Mags {
		name := volume.Factor(volume.Cube(mag)).String()
		p.Mags = append(p.Mags, magProperties{volume.Cube(mag), fmt.Sprintf("./%s/%s", l.name, name), o.CubeSide})
	}
	return p
}
