package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path"

	"github.com/spf13/cobra"

	"github.com/wkwfs/wkwfs/internal/view"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

func newInfoCommand() *cobra.Command {
	var asJSON bool
	var from sourceFlags
	cmd := &cobra.Command{
		Use:   "info [--json] SOURCE",
		Short: "Print what is in a dataset, without mounting it",
		Long: `Print the layers and mags of SOURCE, their boxes, voxels, blocks, cubes and sizes.
SOURCE is a WKW dataset, one of its layers, one mag of a layer, or a single .wkw file.
FILES is what the cube files take, FLAT what volume.raw has.`,
		Args: exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := inspect(args[0], from, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if !asJSON {
				return r.print(cmd.OutOrStdout())
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetIndent("", "  ")
			return e.Encode(r)
		},
	}
	from.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

// sourceInfo is what there is to know about a source. Its JSON is an interface.
type sourceInfo struct {
	Source   string        `json:"source"` // as it was given
	Kind     string        `json:"kind"`   // dataset, layer, mag or cube
	Layers   []layerInfo   `json:"layers"` // one without a name where the source is below a dataset
	NotShown []notShownFor `json:"not_shown"`

	depth int // directories and cubes that are looked at at once
}

type layerInfo struct {
	Name     string    `json:"name,omitempty"`
	Category string    `json:"category,omitempty"` // color or segmentation
	Mags     []magInfo `json:"mags"`
}

type magInfo struct {
	Name        string        `json:"name,omitempty"`
	Factor      volume.Factor `json:"factor"`        // side of a voxel in voxels of mag 1
	VoxelSize   *[3]float64   `json:"voxel_size_nm"` // null where it is not known
	Box         boxInfo       `json:"box"`           // in voxels of the mag
	BoxMag1     boxInfo       `json:"box_mag1"`      // the same in voxels of mag 1
	DType       string        `json:"dtype"`         // numpy's name
	Channels    int           `json:"channels"`
	Block       volume.Vec    `json:"block"`       // in voxels
	Cube        volume.Vec    `json:"cube"`        // in voxels
	Compression string        `json:"compression"` // of the first cube; empty where it is not known
	Cubes       int           `json:"cubes"`       // present
	StoredBytes int64         `json:"stored_bytes"`
	FlatBytes   int64         `json:"flat_bytes"` // of the box, decoded
	Numpy       string        `json:"numpy,omitempty"`
}

// bounds is the box in voxels of the mag.
func (i magInfo) bounds() volume.Box { return volume.Box{Min: i.Box.Min, Max: i.Box.Max} }

// boxInfo is a half-open box.
type boxInfo struct {
	Min volume.Vec `json:"min"`
	Max volume.Vec `json:"max"`
}

type notShownFor struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// inspect finds out what is in the source. Problems with parts of it are part of the result.
func inspect(source string, from sourceFlags, stderr io.Writer) (*sourceInfo, error) {
	root, err := openSource(source, from, slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		return nil, err
	}
	r := &sourceInfo{Source: source, Layers: []layerInfo{}, NotShown: []notShownFor{}, depth: from.depth()}
	switch {
	case root.Dataset != nil:
		r.Kind = "dataset"
		return r, r.addDataset(root.Dataset)
	case root.Layer != nil:
		r.Kind = "layer"
		r.addLayer("", root.Layer)
		return r, nil
	case root.Mag != nil:
		r.Kind = "mag"
		l := layerInfo{Category: root.Mag.About().Category, Mags: []magInfo{}}
		r.addMag(&l, "", root.Mag)
		r.Layers = append(r.Layers, l)
		return r, nil
	}
	r.Kind = "cube"
	return r, r.addCube(root.Cube)
}

func (r *sourceInfo) skip(name string, reason any) {
	r.NotShown = append(r.NotShown, notShownFor{name, oneLine(fmt.Sprint(reason))})
}

// skipOmitted takes over what a dataset or layer does not show itself.
func (r *sourceInfo) skipOmitted(dir string, of any) {
	if o, ok := of.(volume.Omitter); ok {
		for _, omission := range o.Omitted() {
			r.skip(path.Join(dir, omission.Name), omission.Reason)
		}
	}
}

func (r *sourceInfo) addDataset(d volume.Dataset) error {
	names, err := d.Layers()
	if err != nil {
		return err
	}
	for _, name := range names {
		l, err := d.Layer(name)
		if err != nil {
			r.skip(name, err)
			continue
		}
		r.addLayer(name, l)
	}
	r.skipOmitted("", d)
	return nil
}

func (r *sourceInfo) addLayer(name string, layer volume.Layer) {
	mags, err := layer.Mags()
	if err != nil {
		r.skip(path.Join(name, "."), err)
		return
	}
	l := layerInfo{Name: name, Mags: []magInfo{}}
	for _, magName := range mags {
		m, err := layer.Mag(magName)
		if err != nil {
			r.skip(path.Join(name, magName), err)
			continue
		}
		l.Category = m.About().Category
		r.addMag(&l, magName, m)
	}
	r.Layers = append(r.Layers, l)
	r.skipOmitted(name, layer)
}

// addMag adds a mag to its layer, or the reason why it is not there.
func (r *sourceInfo) addMag(l *layerInfo, name string, m volume.Mag) {
	at := path.Join(l.Name, name)
	if at == "" {
		at = "."
	}
	g, err := m.CubeGrid()
	if err != nil {
		r.skip(at, err)
		return
	}
	bounds, err := m.Bounds()
	if err != nil {
		r.skip(at, err)
		return
	}
	info, err := newMagInfo(g, bounds, m.About().Factor)
	if err != nil {
		r.skip(at, err)
		return
	}
	if why := view.PrecomputedReason(g); why != "" {
		r.skip(path.Join(l.Name, "precomputed", name), why)
	}
	info.Name, info.Compression = name, m.About().Compression
	r.addCubes(&info, at, m)
	l.Mags = append(l.Mags, info)
}

// addCube adds a source that is one cube file.
func (r *sourceInfo) addCube(c *volume.SingleCube) error {
	f, err := c.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	g := f.Grid()
	info, err := newMagInfo(g, volume.Box{Max: g.Size}, volume.Factor{1, 1, 1})
	if err != nil {
		return err
	}
	info.Cubes, info.StoredBytes = 1, f.Info().Size()
	info.Compression = compression(f, "")
	info.Numpy = numpyLine(c.Name+".raw", g)
	r.Layers = append(r.Layers, layerInfo{Mags: []magInfo{info}})
	return nil
}

// newMagInfo says what follows from the geometry of a mag's cubes, its bounding box, in voxels
// of the mag, and its factor.
func newMagInfo(g volume.Grid, box volume.Box, f volume.Factor) (magInfo, error) {
	info := magInfo{
		Factor:   f,
		Box:      boxInfo(box),
		BoxMag1:  boxInfo{box.Min.Mul(volume.Vec(f)), box.Max.Mul(volume.Vec(f))},
		DType:    g.Type.String(),
		Channels: g.Channels,
		Block:    g.Block,
		Cube:     g.Size,
	}
	if g.Spacing != ([3]float64{}) {
		info.VoxelSize = &g.Spacing
	}
	if box.Empty() { // no cubes and no metadata
		return info, nil
	}
	g.Size = box.Size()
	if err := g.Validate(); err != nil {
		return info, err
	}
	info.FlatBytes = g.Bytes()
	return info, nil
}

// compression returns how the blocks of a cube file are stored, or what is thought of it
// where the format does not say.
func compression(f volume.CubeFile, thought string) string {
	if w, ok := f.(interface{ Header() wkw.Header }); ok {
		return w.Header().BlockType.String()
	}
	return thought
}

// numpyLine opens a flat file with the voxels of g.
func numpyLine(name string, g volume.Grid) string {
	shape := fmt.Sprintf("%d, %d, %d", g.Size[0], g.Size[1], g.Size[2])
	if g.Channels > 1 {
		shape = fmt.Sprintf("%d, %s", g.Channels, shape)
	}
	return fmt.Sprintf("numpy.fromfile(%q, %q).reshape((%s), order=\"F\")", name, g.Type.Descr(), shape)
}
