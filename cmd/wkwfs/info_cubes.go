package main

import (
	"fmt"
	"iter"
	"path"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/volume"
)

// addCubes counts the cubes and their bytes. All are looked at and one is opened.
func (r *sourceInfo) addCubes(info *magInfo, at string, m volume.Mag) {
	for c := range parallel.InOrder(listCubes(m), r.depth, listedCube.look) {
		if c.err != nil {
			r.skip(at, c.err)
			continue
		}
		if info.Cubes == 0 {
			r.addFirstCube(info, at, m, c.at)
		}
		info.Cubes++
		info.StoredBytes += c.bytes
	}
}

// listedCube is a cube of a mag, or the error of one, or of a directory of cubes.
type listedCube struct {
	of    volume.Mag
	at    volume.Vec
	bytes int64
	err   error
}

// listCubes lists the cubes of a mag.
func listCubes(m volume.Mag) iter.Seq[listedCube] {
	return func(yield func(listedCube) bool) {
		for at, err := range volume.AllCubes(m) {
			if !yield(listedCube{of: m, at: at, err: err}) {
				return
			}
		}
	}
}

// look finds out how large the cube file is.
func (c listedCube) look() listedCube {
	if c.err != nil {
		return c
	}
	info, err := c.of.StatCubes(c.at[2], c.at[1], c.at[0])
	if err != nil {
		c.err = err
		return c
	}
	c.bytes = info.Size()
	return c
}

// addFirstCube adds what is best learned from a cube: how it is compressed, and the line of
// numpy that opens it in a mount.
func (r *sourceInfo) addFirstCube(info *magInfo, at string, m volume.Mag, c volume.Vec) {
	f, err := m.OpenCube(c)
	if err != nil {
		r.skip(at, err)
		return
	}
	defer f.Close()
	info.Compression = compression(f, info.Compression)
	g := f.Grid()
	name := fmt.Sprintf("z%d/y%d/x%d.raw", c[2], c[1], c[0])
	if m.About().Chunks { // clipped at the end of the layer
		box := volume.Box{Min: g.Origin, Max: g.Origin.Add(g.Size)}.Intersect(info.bounds())
		name, g.Size = "chunks/"+box.String()+".raw", box.Size()
	}
	info.Numpy = numpyLine(path.Join(at, name), g)
}
