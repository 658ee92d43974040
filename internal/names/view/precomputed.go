package view

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// precomputedDir presents a layer as a Neuroglancer Precomputed volume: an info file, and a directory of unsharded raw
// chunks for each mag. https://github.com/google/neuroglancer, datasource/precomputed/volume.md
type precomputedDir struct{ l layerDir }

func (d precomputedDir) stat() (fs.FileInfo, error) { return statDir(tree.Precomputed, d.l.l.Stat) }

// PrecomputedReason returns why Precomputed cannot hold a mag of this name and geometry. It returns "" if it can.
func PrecomputedReason(name string, g volume.Grid) string {
	if name == tree.Info {
		return "its name is that of a file of Precomputed"
	}
	if g.Type == volume.Int64 || g.Type == volume.Float64 {
		return fmt.Sprintf("Precomputed has no %v", g.Type)
	}
	return ""
}

// scales returns the scales that the volume may have.
func (d precomputedDir) scales() levels {
	return levels{d.l, []string{tree.Precomputed}, "Precomputed", PrecomputedReason}
}

func (d precomputedDir) list(yield func(entry, error) bool) {
	names, err := d.l.l.Mags()
	if err != nil {
		yield(entry{}, err)
		return
	}
	if !yield(entry{tree.Info, d.info()}, nil) {
		return
	}
	for l := range d.scales().each(names) {
		if !yield(entry{l.key, scale{l}}, nil) {
			return
		}
	}
}

func (d precomputedDir) child(name string) (node, error) {
	if name == tree.Info {
		return d.info(), nil
	}
	l, err := d.scales().find(name)
	if err != nil {
		return nil, err
	}
	return scale{l}, nil
}

// info returns the info file.
func (d precomputedDir) info() builtFile { return builtFile{tree.Info, d.l.l.Stat, d.infoContent} }

// precomputedInfo is the content of the info file.
type precomputedInfo struct {
	AtType   string             `json:"@type"`
	Type     string             `json:"type"`
	DataType string             `json:"data_type"`
	Channels int                `json:"num_channels"`
	Scales   []precomputedScale `json:"scales"`
}

type precomputedScale struct {
	Key        string       `json:"key"`
	Size       volume.Vec   `json:"size"`         // voxels
	Offset     volume.Vec   `json:"voxel_offset"` // absolute voxels of the mag
	ChunkSizes []volume.Vec `json:"chunk_sizes"`  // voxels
	Resolution [3]float64   `json:"resolution"`   // nm
	Encoding   string       `json:"encoding"`
}

func (d precomputedDir) infoContent() ([]byte, error) {
	scales, snaps, err := d.scales().all()
	if err != nil {
		return nil, err
	}
	if len(scales) == 0 {
		return nil, fs.ErrNotExist
	}
	cube := snaps[0].Cube()
	info := precomputedInfo{AtType: "neuroglancer_multiscale_volume", Type: "image", DataType: cube.Type.String(),
		Channels: cube.Channels}
	if snaps[0].isLabels() {
		info.Type = "segmentation"
	}
	for i, s := range scales {
		g := newGeometry(snaps[i])
		info.Scales = append(info.Scales, precomputedScale{
			Key: s.key, Size: g.extent.Size(), Offset: g.extent.Min, ChunkSizes: []volume.Vec{g.chunk},
			Resolution: scale{s}.resolution(snaps[i]), Encoding: "raw",
		})
	}
	b, err := json.MarshalIndent(info, "", "  ")
	return append(b, '\n'), err
}
