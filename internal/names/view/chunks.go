package view

import (
	"io/fs"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/volume"
)

// chunksDir has the stored chunks of a mag that names them by their boxes. Boxes end at the bounding box of the layer.
type chunksDir struct{ d magDir }

func (c chunksDir) stat() (fs.FileInfo, error) { return statDir(tree.Chunks, c.d.m.Stat) }

func (c chunksDir) list(yield func(entry, error) bool) {
	g, bounds, err := c.grid()
	if err != nil {
		yield(entry{}, err)
		return
	}
	for at, err := range volume.AllCubes(c.d.m) {
		if err != nil {
			yield(entry{}, err)
			return
		}
		f := c.chunk(g, bounds, at)
		if !f.part.Empty() && !yield(entry{f.name + tree.Raw, f}, nil) {
			return
		}
	}
}

func (c chunksDir) child(name string) (node, error) {
	stem, ok := strings.CutSuffix(name, tree.Raw)
	if !ok {
		return nil, fs.ErrNotExist
	}
	box, ok := tree.ParseBox(stem)
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

// chunk returns the file of a chunk. Its part is empty if the chunk lies outside of the bounds.
func (c chunksDir) chunk(g volume.Grid, bounds volume.Box, at volume.Vec) *cubeFile {
	whole := g.CubeBox(at)
	box := whole.Intersect(bounds)
	if box.Empty() {
		box = volume.Box{Min: whole.Min, Max: whole.Min}
	}
	return &cubeFile{
		fsys: c.d.fsys,
		m:    c.d.m,
		name: tree.BoxName(box),
		at:   at,
		part: box.Sub(whole.Min),
	}
}
