package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/wkwfs/wkwfs/internal/names/tree"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// addCubes counts the cubes of a mag and their bytes. It stats all of them and opens the first.
func (r *Report) addCubes(info *Mag, at string, m volume.Mag) {
	faults := 0
	for c := range parallel.InOrder(listCubes(m), r.depth, cube.stat) {
		if c.err != nil {
			if faults++; faults <= maxFaults {
				r.omit(partOf(at, c.err), c.err)
			}
			continue
		}
		if info.Cubes == 0 {
			r.addFirstCube(info, at, m, c.at)
		}
		info.Cubes++
		info.StoredBytes += c.bytes
	}
	if faults > maxFaults {
		r.omit(at, fmt.Sprintf("%d more like that: wkwfs check lists all", faults-maxFaults))
	}
}

// maxFaults is the largest number of cubes and directories of a mag that cannot be described and are listed one by one.
const maxFaults = 1000

// cube is a cube of a mag, or an error of listing.
type cube struct {
	of    volume.Mag
	at    volume.Vec // in cubes
	bytes int64
	err   error
}

func listCubes(m volume.Mag) iter.Seq[cube] {
	return func(yield func(cube) bool) {
		for at, err := range volume.AllCubes(m) {
			if !yield(cube{of: m, at: at, err: err}) {
				return
			}
		}
	}
}

// stat returns the cube with the size of its file.
func (c cube) stat() cube {
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

// addFirstCube adds what only a cube file shows: how its blocks are compressed, and the line of
// numpy that opens it in a mount.
func (r *Report) addFirstCube(info *Mag, at string, m volume.Mag, c volume.Vec) {
	f, err := m.OpenCube(c)
	if err != nil {
		r.omit(partOf(at, err), err)
		return
	}
	defer f.Close()
	info.Compression = compression(f, info.Compression)
	g := f.Grid()
	name := tree.CubePath(c)
	if m.About().NamedByBox { // clipped at the end of the layer
		box := volume.Box{Min: g.Origin, Max: g.Origin.Add(g.Size)}.Intersect(volume.Box(info.Box))
		name, g.Size = path.Join(tree.Chunks, tree.BoxName(box)+tree.Raw), box.Size()
	}
	info.Numpy = numpyLine(path.Join(at, name), g)
}

// partOf returns the name of the file or directory of a mag that cannot be read, such as a cube, or that of the mag if
// the error has no name below it.
func partOf(mag string, err error) string {
	name := ""
	if format, ok := errors.AsType[*volume.FormatError](err); ok {
		name = format.File
	} else if unsupported, ok := errors.AsType[*volume.UnsupportedError](err); ok {
		name = unsupported.File
	} else if path, ok := errors.AsType[*fs.PathError](err); ok {
		name = path.Path
	}
	if fs.ValidPath(name) && (mag == "." || strings.HasPrefix(name, mag+"/")) {
		return name
	}
	return mag
}

// compression returns how the blocks of a cube file are compressed, or otherwise if its format
// does not say.
func compression(f volume.CubeFile, otherwise string) string {
	if w, ok := f.(interface{ Header() wkw.Header }); ok {
		return w.Header().BlockType.String()
	}
	return otherwise
}

// numpyLine returns the line of Python that opens a flat file with the voxels of g.
func numpyLine(name string, g volume.Grid) string {
	shape := fmt.Sprintf("%d, %d, %d", g.Size[0], g.Size[1], g.Size[2])
	if g.Channels > 1 {
		shape = fmt.Sprintf("%d, %s", g.Channels, shape)
	}
	return fmt.Sprintf("numpy.fromfile(%q, %q).reshape((%s), order=\"F\")", name, g.Type.Descr(), shape)
}
