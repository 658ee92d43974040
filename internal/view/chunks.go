package view

import (
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/volume"
)

const chunksName = "chunks"

// chunksDir shows the stored chunks of a mag that names them by the box that they
// cover, xBegin-xEnd_yBegin-yEnd_zBegin-zEnd.raw, clipped at the end of the layer.
type chunksDir struct{ d magDir }

func (c chunksDir) stat() (fs.FileInfo, error) { return statDir(chunksName, c.d.m.Stat) }

func (c chunksDir) list() ([]fs.DirEntry, error) {
	g, bounds, err := c.grid()
	if err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	for at, err := range volume.AllCubes(c.d.m) {
		if err != nil {
			return nil, err
		}
		if f := c.chunk(g, bounds, at); f.size != (volume.Vec{}) {
			entries = append(entries, entry{f.name + rawSuffix, f})
		}
	}
	return entries, nil
}

func (c chunksDir) child(name string) (node, error) {
	stem, ok := strings.CutSuffix(name, rawSuffix)
	if !ok {
		return nil, fs.ErrNotExist
	}
	box, ok := parseBox(stem)
	if !ok {
		return nil, fs.ErrNotExist
	}
	g, bounds, err := c.grid()
	if err != nil {
		return nil, err
	}
	f := c.chunk(g, bounds, box.Min.Sub(g.Origin).Div(g.Size))
	if f.name != stem {
		return nil, fs.ErrNotExist
	}
	return f, nil
}

func (c chunksDir) grid() (volume.Grid, volume.Box, error) {
	g, err := c.d.m.CubeGrid()
	if err != nil {
		return g, volume.Box{}, err
	}
	bounds, err := c.d.m.Bounds()
	return g, bounds, err
}

// chunk is the file of chunk at; of size zero where it is outside of the bounds.
func (c chunksDir) chunk(g volume.Grid, bounds volume.Box, at volume.Vec) cubeFile {
	lo := g.Origin.Add(at.Mul(g.Size))
	box := volume.Box{Min: lo, Max: lo.Add(g.Size)}.Intersect(bounds)
	if box.Empty() {
		box = volume.Box{}
	}
	return cubeFile{
		t:    c.d.t,
		name: box.String(),
		at:   at,
		size: box.Size(),
		grid: c.d.m.CubeGrid,
		base: func() (fs.FileInfo, error) { return c.d.m.StatCubes(at[2], at[1], at[0]) },
		cube: func() (volume.CubeFile, error) { return c.d.t.openCube(c.d.m, at) },
	}
}
