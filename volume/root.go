package volume

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

// Root is what a path turned out to be. Exactly one of the fields is set.
type Root struct {
	Dataset Dataset
	Layer   Layer
	Mag     Mag
	Cube    *SingleCube
}

// SingleCube is a cube file outside of any dataset.
type SingleCube struct {
	Name string // without its suffix
	Grid Grid   // of the file when it was recognised
	Stat func() (fs.FileInfo, error)
	Open func() (CubeFile, error)
}

// AsLayer returns the root as a layer: a mag is a layer of one mag, and a cube a mag of one cube. The name of such a
// mag is its factor, or "1" if that is not known. AsLayer returns nil for a dataset.
func (r Root) AsLayer() Layer {
	switch {
	case r.Layer != nil:
		return r.Layer
	case r.Mag != nil:
		return single{r.Mag}
	case r.Cube != nil:
		return single{cubeMag{r.Cube}}
	}
	return nil
}

// AsDataset returns the root as a dataset. If it is something else, it is the only layer, with the given name. See
// [Root.AsLayer].
func (r Root) AsDataset(name string) Dataset {
	if r.Dataset != nil {
		return r.Dataset
	}
	return ofOneLayer{name, r.AsLayer()}
}

// ofOneLayer is a dataset of one layer.
type ofOneLayer struct {
	name  string
	layer Layer
}

func (d ofOneLayer) Stat() (fs.FileInfo, error) { return d.layer.Stat() }
func (d ofOneLayer) Layers() ([]string, error)  { return []string{d.name}, nil }
func (d ofOneLayer) Files() fs.FS               { return embed.FS{} }

func (d ofOneLayer) Layer(name string) (Layer, error) {
	if name != d.name {
		return nil, fmt.Errorf("layer %s: %w", name, fs.ErrNotExist)
	}
	return d.layer, nil
}

// single is a layer of one mag.
type single struct{ mag Mag }

func (l single) Stat() (fs.FileInfo, error) { return l.mag.Stat() }

func (l single) Mags() ([]string, error) { return []string{l.name()}, nil }

// name returns the factor of the mag, or "1" if it is not known.
func (l single) name() string {
	if f := l.mag.About().Factor; min(f[0], f[1], f[2]) > 0 {
		return f.String()
	}
	return "1"
}

func (l single) Mag(name string) (Mag, error) {
	if name != l.name() {
		return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
	}
	return l.mag, nil
}

// cubeMag is a mag of one cube, cube 0,0,0 of its grid.
type cubeMag struct{ cube *SingleCube }

func (m cubeMag) Stat() (fs.FileInfo, error) { return m.cube.Stat() }
func (m cubeMag) About() About               { return About{} }
func (m cubeMag) CubeGrid() (Grid, error)    { return m.cube.Grid, nil }
func (m cubeMag) Bounds() (Box, error)       { return m.cube.Grid.CubeBox(Vec{}), nil }
func (m cubeMag) OpenCube(c Vec) (CubeFile, error) {
	if err := only(c[:]); err != nil {
		return nil, err
	}
	return m.cube.Open()
}

// Cubes lists 0 at each level.
func (m cubeMag) Cubes(zy ...int) ([]int, error) { return []int{0}, only(zy) }

// StatCubes describes the cube at each level.
func (m cubeMag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if err := only(zyx); err != nil {
		return nil, err
	}
	return m.cube.Stat()
}

// only fails with fs.ErrNotExist if a position is not 0.
func only(position []int) error {
	if slices.ContainsFunc(position, func(i int) bool { return i != 0 }) {
		return fmt.Errorf("cube %v: %w", position, fs.ErrNotExist)
	}
	return nil
}
