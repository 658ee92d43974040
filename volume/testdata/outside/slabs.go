// Package slabs is a format of another module: a directory of files z0.slab, z1.slab and so on, each with the same
// number of planes of bytes. The file "slabs" has the extent of a slab, such as "30 20 4".
package slabs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/wkwfs/wkwfs/dataset"
	"github.com/wkwfs/wkwfs/volume"
)

// Recognise opens a directory of slabs.
func Recognise(fsys fs.FS, name string) (volume.Root, error) {
	b, err := fs.ReadFile(fsys, path.Join(name, "slabs"))
	if errors.Is(err, fs.ErrNotExist) {
		return volume.Root{}, dataset.ErrNotRecognised
	}
	if err != nil {
		return volume.Root{}, err
	}
	m := mag{fsys: fsys, dir: name}
	if _, err := fmt.Sscan(string(b), &m.size[0], &m.size[1], &m.size[2]); err != nil {
		return volume.Root{}, &volume.FormatError{File: path.Join(name, "slabs"), Part: "extent",
			Expected: "three numbers", Found: fmt.Sprintf("%q", b)}
	}
	return volume.Root{Mag: m}, m.grid().Validate()
}

// mag is the slabs of a directory.
type mag struct {
	fsys fs.FS
	dir  string
	size volume.Vec // of a slab
}

var _ volume.Mag = mag{}

func (m mag) grid() volume.Grid {
	return volume.Grid{Size: m.size, Block: m.size, Type: volume.Uint8, Channels: 1, Spacing: [3]float64{10, 10, 40}}
}

func (m mag) Stat() (fs.FileInfo, error) { return fs.Stat(m.fsys, m.dir) }
func (m mag) About() volume.About {
	return volume.About{Factor: volume.Factor{1, 1, 1}, Category: "color"}
}
func (m mag) CubeGrid() (volume.Grid, error) { return m.grid(), nil }

func (m mag) Bounds() (volume.Box, error) {
	zs, err := m.Cubes()
	if err != nil || len(zs) == 0 {
		return volume.Box{}, err
	}
	return m.grid().CubeBox(volume.Vec{2: zs[0]}).Union(m.grid().CubeBox(volume.Vec{2: zs[len(zs)-1]})), nil
}

func (m mag) Cubes(zy ...int) (found []int, err error) {
	if len(zy) > 0 {
		_, err := m.StatCubes(zy...)
		return []int{0}, err
	}
	entries, err := fs.ReadDir(m.fsys, m.dir)
	for _, e := range entries {
		var z int
		if n, _ := fmt.Sscanf(e.Name(), "z%d.slab", &z); n == 1 && e.Name() == fmt.Sprintf("z%d.slab", z) {
			found = append(found, z)
		}
	}
	slices.Sort(found)
	return found, err
}

// StatCubes describes a slab at each level: it has no directories.
func (m mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if slices.ContainsFunc(zyx[1:], func(i int) bool { return i != 0 }) {
		return nil, fs.ErrNotExist
	}
	return fs.Stat(m.fsys, m.path(zyx[0]))
}

func (m mag) path(z int) string { return path.Join(m.dir, fmt.Sprintf("z%d.slab", z)) }

func (m mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if c[0] != 0 || c[1] != 0 {
		return nil, fs.ErrNotExist
	}
	f, err := m.fsys.Open(m.path(c[2]))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	s := &slab{file: f, name: m.path(c[2]), info: info, grid: m.grid()}
	s.grid.Origin = s.grid.CubeBox(c).Min
	return s, nil
}

// slab is an open file. It is a cube of one block.
type slab struct {
	file fs.File
	name string
	info fs.FileInfo
	grid volume.Grid
}

var _ volume.CubeFile = (*slab)(nil)

func (s *slab) Grid() volume.Grid       { return s.grid }
func (s *slab) Info() fs.FileInfo       { return s.info }
func (s *slab) Version() volume.Version { return volume.VersionOf(s.info) }
func (s *slab) Close() error            { return s.file.Close() }

func (s *slab) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	for i := range blocks {
		if err := ctx.Err(); err != nil {
			blocks[i].Err = err
		} else {
			blocks[i].Voxels, blocks[i].Err = s.read(blocks[i].At, memory)
		}
	}
}

func (s *slab) read(at volume.Vec, memory func(volume.Vec) []byte) ([]byte, error) {
	if s.info.Size() != s.grid.Bytes() {
		return nil, &volume.FormatError{File: s.name, Part: "voxels", Expected: fmt.Sprint(s.grid.Bytes(), " bytes"),
			Found: fmt.Sprint(s.info.Size())}
	}
	voxels := memory(at)
	if n, err := s.file.(io.ReaderAt).ReadAt(voxels, 0); n < len(voxels) {
		return nil, err
	}
	now, err := s.file.Stat()
	if err == nil && volume.VersionOf(now) != s.Version() {
		err = volume.ErrChanged
	}
	return voxels, err
}
