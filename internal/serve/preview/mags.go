package preview

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

// Mag is a mag, or a single cube, that can be drawn.
type Mag struct {
	Name     string        // empty for a single cube
	Factor   volume.Factor // of a voxel in voxels of mag 1
	Category string        // of the layer; empty if it is not known
	Bounds   volume.Box    // voxels of the mag
	Cube     volume.Grid   // geometry of cube 0,0,0

	open   func(c volume.Vec) (volume.CubeFile, error)
	single bool // a cube outside of any dataset: it starts at voxel 0
}

// OfMag returns a mag of a volume.
func OfMag(name string, m volume.Mag) (Mag, error) {
	g, err := m.CubeGrid()
	if err != nil {
		return Mag{}, err
	}
	bounds, err := m.Bounds()
	if err != nil {
		return Mag{}, err
	}
	about := m.About()
	mag := Mag{Name: name, Factor: factorOf(about), Category: about.Category, Bounds: bounds, Cube: g, open: m.OpenCube}
	return mag, mag.validate()
}

// OfCube returns a cube file outside of any dataset.
func OfCube(c *volume.SingleCube) (Mag, error) {
	open := func(volume.Vec) (volume.CubeFile, error) { return c.Open() }
	mag := Mag{Factor: volume.Factor{1, 1, 1}, Bounds: volume.Box{Max: c.Grid.Size}, Cube: c.Grid, open: open,
		single: true}
	mag.Cube.Origin = volume.Vec{}
	return mag, mag.validate()
}

// OfLayer returns the mags of a layer, finest first. A mag that cannot be read is left out, and its error is joined to
// the error for the caller to show.
func OfLayer(l volume.Layer) ([]Mag, error) {
	names, err := l.Mags()
	if err != nil {
		return nil, err
	}
	var mags []Mag
	var faults error
	for _, name := range names {
		var mag Mag
		m, err := l.Mag(name)
		if err == nil {
			mag, err = OfMag(name, m)
		}
		if err != nil {
			faults = errors.Join(faults, fmt.Errorf("mag %s: %w", name, err))
			continue
		}
		mags = append(mags, mag)
	}
	return mags, faults
}

func factorOf(a volume.About) volume.Factor {
	for axis, f := range a.Factor {
		a.Factor[axis] = cmp.Or(f, 1)
	}
	return a.Factor
}

// validate checks what later arithmetic relies on.
func (m Mag) validate() error {
	if m.Bounds.Empty() {
		return errors.New("neither a bounding box nor a cube")
	}
	g := m.Cube
	if err := g.Validate(); err != nil {
		return err
	}
	g.Size = m.Bounds.Size()
	return g.Validate()
}

// find returns the mag with a name, or with a factor of that name. The error names the mags that there are.
func find(mags []Mag, name string) (Mag, error) {
	var names []string
	for _, m := range mags {
		if m.Name == name {
			return m, nil
		}
		names = append(names, cmp.Or(m.Name, m.Factor.String()))
	}
	f, ok := volume.ParseFactor(name)
	for _, m := range mags {
		if ok && m.Factor == f {
			return m, nil
		}
	}
	return Mag{}, fmt.Errorf("no mag %q, only %s", name, strings.Join(names, ", "))
}
