package subset

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/wkwfs/wkwfs/volume"
)

// single is a layer of one mag.
type single struct{ mag volume.Mag }

func (l single) Stat() (fs.FileInfo, error) { return l.mag.Stat() }

func (l single) Mags() ([]string, error) { return []string{l.name()}, nil }

// name returns the factor of the mag, or "1" if it is not known.
func (l single) name() string {
	if f := l.mag.About().Factor; min(f[0], f[1], f[2]) > 0 {
		return f.String()
	}
	return "1"
}

func (l single) Mag(name string) (volume.Mag, error) {
	if name != l.name() {
		return nil, fmt.Errorf("mag %s: %w", name, fs.ErrNotExist)
	}
	return l.mag, nil
}

// cubeMag is a mag of one cube, cube 0,0,0 of its grid.
type cubeMag struct{ cube *volume.SingleCube }

func (m cubeMag) Stat() (fs.FileInfo, error)     { return m.cube.Stat() }
func (m cubeMag) About() volume.About            { return volume.About{} }
func (m cubeMag) CubeGrid() (volume.Grid, error) { return m.cube.Grid, nil }
func (m cubeMag) Bounds() (volume.Box, error)    { return m.cube.Grid.CubeBox(volume.Vec{}), nil }
func (m cubeMag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
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
