// Package inspect describes a source without decoding voxels: its layers and mags with their
// boxes, types and sizes, and the parts that a mount would not show.
package inspect

import (
	"cmp"
	"fmt"
	"path"

	"github.com/wkwfs/wkwfs/internal/jobs/gaps"
	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/names/view"
	"github.com/wkwfs/wkwfs/internal/small/hint"
	"github.com/wkwfs/wkwfs/volume"
)

// Report describes a source. Its JSON is an interface: programs read it.
type Report struct {
	Source   string    `json:"source"` // as the user wrote it
	Kind     string    `json:"kind"`   // dataset, layer, mag or cube
	Layers   []Layer   `json:"layers"` // one without a name if the source is below a dataset
	NotShown []Omitted `json:"not_shown"`
	Warnings []Omitted `json:"warnings"` // of what is shown: why voxels may be missing

	depth int // requests in flight
}

// Layer describes a layer.
type Layer struct {
	Name     string `json:"name,omitempty"`
	Category string `json:"category,omitempty"` // color or segmentation
	Assumed  string `json:"assumed,omitempty"`  // how its file was understood
	Mags     []Mag  `json:"mags"`
}

// Mag describes a mag.
type Mag struct {
	Name        string        `json:"name,omitempty"`
	Factor      volume.Factor `json:"factor"`        // size of a voxel in voxels of mag 1
	VoxelSize   *[3]float64   `json:"voxel_size_nm"` // null if unknown
	Box         Box           `json:"box"`           // in voxels of the mag
	BoxMag1     Box           `json:"box_mag1"`      // in voxels of mag 1
	DType       string        `json:"dtype"`         // as in numpy
	Channels    int           `json:"channels"`
	Block       volume.Vec    `json:"block"`       // in voxels
	Cube        volume.Vec    `json:"cube"`        // in voxels
	Compression string        `json:"compression"` // of the first cube; empty if unknown
	Cubes       int           `json:"cubes"`       // that exist
	StoredBytes int64         `json:"stored_bytes"`
	FlatBytes   int64         `json:"flat_bytes"` // of the box, decoded
	Numpy       string        `json:"numpy,omitempty"`
}

// Box is a half-open box.
type Box struct {
	Min volume.Vec `json:"min"`
	Max volume.Vec `json:"max"`
}

// Omitted is a part of the source that a mount does not show, or where voxels may be missing.
type Omitted struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Source describes the source with the name that the user gave it. It sends up to depth requests at once. Parts that
// cannot be read are in NotShown; they are not errors. Places where voxels may be missing, as far as the options say to
// look for them, are in Warnings.
func Source(name string, root volume.Root, depth int, look gaps.Options) (*Report, error) {
	r := &Report{Source: name, Layers: []Layer{}, NotShown: []Omitted{}, Warnings: []Omitted{}, depth: depth}
	for g := range gaps.Find(root, look) {
		r.Warnings = append(r.Warnings, Omitted{g.Place(), hint.OneLine(g.Err.Error())})
	}
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
		l := Layer{Category: root.Mag.About().Category, Mags: []Mag{}}
		r.addMag(&l, "", root.Mag)
		r.Layers = append(r.Layers, l)
		return r, nil
	}
	r.Kind = "cube"
	return r, r.addCube(root.Cube)
}

func (r *Report) omit(name string, reason any) {
	r.NotShown = append(r.NotShown, Omitted{name, hint.OneLine(fmt.Sprint(reason))})
}

// omitSame adds what a dataset or layer omits.
func (r *Report) omitSame(dir string, of any) {
	if o, ok := of.(volume.Omitter); ok {
		for _, omission := range o.Omitted() {
			r.omit(path.Join(dir, omission.Name), omission.Reason)
		}
	}
}

func (r *Report) addDataset(d volume.Dataset) error {
	for name, err := range volume.EachLayer(d) {
		if name == "" && err != nil {
			return err
		}
		var l volume.Layer
		if err == nil {
			l, err = d.Layer(name)
		}
		if err != nil {
			r.omit(name, err)
			continue
		}
		r.addLayer(name, l)
	}
	r.omitSame("", d)
	return nil
}

func (r *Report) addLayer(name string, layer volume.Layer) {
	mags, err := layer.Mags()
	if err != nil {
		r.omit(path.Join(name, "."), err)
		return
	}
	l := Layer{Name: name, Mags: []Mag{}}
	for _, magName := range mags {
		m, err := layer.Mag(magName)
		if err != nil {
			r.omit(path.Join(name, magName), err)
			continue
		}
		l.Category, l.Assumed = m.About().Category, cmp.Or(l.Assumed, m.About().Assumed)
		r.addMag(&l, magName, m)
	}
	r.Layers = append(r.Layers, l)
	r.omitSame(name, layer)
}

// addMag adds a mag to its layer, or the reason why it is omitted.
func (r *Report) addMag(l *Layer, name string, m volume.Mag) {
	at := path.Join(l.Name, name)
	if at == "" {
		at = "."
	}
	info, g, err := describeMag(m)
	if err != nil {
		r.omit(at, err)
		return
	}
	if why := view.PrecomputedReason(name, g); why != "" {
		r.omit(path.Join(l.Name, tree.Precomputed, name), why)
	}
	info.Name = name
	r.addCubes(&info, at, m)
	l.Mags = append(l.Mags, info)
}

// describeMag describes a mag by its metadata. The grid is that of its cubes.
func describeMag(m volume.Mag) (Mag, volume.Grid, error) {
	g, err := m.CubeGrid()
	if err != nil {
		return Mag{}, g, err
	}
	bounds, err := m.Bounds()
	if err != nil {
		return Mag{}, g, err
	}
	info, err := newMag(g, bounds, m.About().Factor)
	info.Compression = m.About().Compression
	return info, g, err
}

// addCube adds a source that is one cube file.
func (r *Report) addCube(c *volume.SingleCube) error {
	f, err := c.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	g := f.Grid()
	info, err := newMag(g, volume.Box{Max: g.Size}, volume.Factor{1, 1, 1})
	if err != nil {
		return err
	}
	info.Cubes, info.StoredBytes = 1, f.Info().Size()
	info.Compression = compression(f, "")
	info.Numpy = numpyLine(c.Name+tree.Raw, g)
	r.Layers = append(r.Layers, Layer{Mags: []Mag{info}})
	return nil
}

// newMag returns what follows from the grid of a mag's cubes, its bounding box, in voxels of the
// mag, and its factor.
func newMag(g volume.Grid, box volume.Box, f volume.Factor) (Mag, error) {
	info := Mag{
		Factor:   f,
		Box:      Box(box),
		BoxMag1:  Box{box.Min.Mul(volume.Vec(f)), box.Max.Mul(volume.Vec(f))},
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
