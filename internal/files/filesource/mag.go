package filesource

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/files/arrayfile"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// stack is an array with its smaller copies.
type stack struct {
	fsys    fs.FS
	name    string // of the file, or of the folder of pictures
	unpack  string // directory for unpacked streams
	indexes IndexStore
	as      As
	current atomic.Pointer[opened]
}

// opened is one version of the files of a stack.
type opened struct {
	*arrayfile.Array
	info fs.FileInfo
}

// level returns the array, or one of its smaller copies, which start at 1. It returns nil if there is none.
func (o *opened) level(n int) *arrayfile.Array {
	switch {
	case n == 0:
		return o.Array
	case n <= len(o.Coarser):
		return o.Coarser[n-1]
	}
	return nil
}

// mag is a level of a stack as a mag of one cube.
type mag struct {
	*stack
	n     int        // the level
	t     int        // the point in time
	whole volume.Vec // size of all times
	grid  volume.Grid
	about volume.About
}

var (
	_ volume.Mag            = (*mag)(nil)
	_ volume.MemoryReporter = (*mag)(nil)
	_ vfs.SpeedReporter     = (*mag)(nil)
)

// newStack opens a file or a folder of pictures. It closes all files.
func newStack(fsys fs.FS, name string, o Options) (*stack, error) {
	s := &stack{fsys: fsys, name: name, unpack: o.Unpack, indexes: o.Indexes, as: o.As}
	first, err := s.parse()
	s.current.Store(first)
	return s, err
}

// mag returns a level of a point in time as a mag.
func (s *stack) mag(n, t int, o Options) (*mag, error) {
	whole := s.current.Load()
	a := whole.level(n)
	m := &mag{stack: s, n: n, t: t, whole: a.Grid.Size, grid: a.Grid}
	m.grid.Size[2] /= max(1, a.Times)
	m.grid.Block = blockOf(m.grid, a.Unit(), cmp.Or(o.blockBytes, blockBytes))
	m.about = volume.About{Category: categoryOf(whole.Labels.Content), Compression: a.StoredAs()}
	m.grid.Origin = volume.Vec{}
	for axis := range 3 {
		m.about.Factor[axis] = (whole.Grid.Size[axis] + a.Grid.Size[axis]/2) / a.Grid.Size[axis]
		m.grid.Spacing[axis] = whole.Grid.Spacing[axis] * float64(m.about.Factor[axis])
		if whole.Positioned && whole.PositionErr == nil {
			m.grid.Origin[axis] = whole.Grid.Origin[axis] / m.about.Factor[axis]
		}
	}
	if err := m.grid.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return m, nil
}

// categoryOf returns the category of a layer, or "" if the header does not show it.
func categoryOf(c arrayfile.Content) string {
	switch c {
	case arrayfile.Image:
		return "color"
	case arrayfile.Segmentation:
		return "segmentation"
	}
	return ""
}

// parse opens the files as they are now, and closes them.
func (s *stack) parse() (*opened, error) {
	a, err := s.open()
	if err != nil {
		return nil, err
	}
	a.Unpack(s.unpack, s.indexes)
	if err := a.Close(); err != nil {
		return nil, err
	}
	return &opened{a, vfs.JoinInfos(a.Infos())}, nil
}

// Stat describes the file or the folder.
func (s *stack) Stat() (fs.FileInfo, error) { return fs.Stat(s.fsys, s.name) }

// About describes the array.
func (m *mag) About() volume.About { return m.about }

// CubeGrid returns the geometry of the only cube.
func (m *mag) CubeGrid() (volume.Grid, error) { return m.grid, nil }

// Bounds returns the box of the array.
func (m *mag) Bounds() (volume.Box, error) { return m.grid.CubeBox(volume.Vec{}), nil }

// Speed implements [vfs.SpeedReporter].
func (m *mag) Speed() vfs.Speed { return vfs.SpeedOf(m.fsys).OfChunks() }

// WorkMemory implements [volume.MemoryReporter]: a unit that is decoded is stored in fewer bytes, and takes scratch
// memory for blocks at the edge.
func (m *mag) WorkMemory(g volume.Grid) int { return 2 * g.BlockBytes() }

// Cubes lists 0 at each level.
func (m *mag) Cubes(zy ...int) ([]int, error) { return []int{0}, m.only(zy) }

// StatCubes describes the files.
func (m *mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if err := m.only(zyx); err != nil {
		return nil, err
	}
	if len(zyx) < 3 {
		return m.Stat()
	}
	now, err := m.describe(m.current.Load())
	if err != nil {
		return nil, err
	}
	return m.info(now), nil
}

// describe describes the files of a version as they are now.
func (s *stack) describe(o *opened) (fs.FileInfo, error) {
	names := o.Names()
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		info, err := fs.Stat(s.fsys, name)
		if err != nil {
			return nil, err
		}
		infos[i] = info
	}
	return vfs.JoinInfos(infos), nil
}

// OpenCube opens the only cube. If the files have changed since they were opened last, their headers are read again.
func (m *mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if err := m.only(c[:]); err != nil {
		return nil, err
	}
	now, err := m.latest()
	if err == nil {
		err = now.Hold()
	}
	if err != nil {
		return nil, err
	}
	a := now.level(m.n)
	if a == nil || a.Grid.Size != m.whole || a.Grid.Type != m.grid.Type || a.Grid.Channels != m.grid.Channels {
		now.Drop() // read-only: nothing can be lost
		return nil, fmt.Errorf("%s: its size or type has changed: %w", m.name, volume.ErrChanged)
	}
	return &cube{mag: m, Array: a, described: m.info(now.info)}, nil
}

// latest returns the files as they are now. If they have changed, it reads the headers again.
func (s *stack) latest() (*opened, error) {
	known := s.current.Load()
	info, err := s.describe(known)
	if err == nil && vfs.VersionOf(info) == vfs.VersionOf(known.info) {
		return known, nil
	}
	now, err := s.parse()
	if err == nil {
		s.current.Store(now)
	}
	return now, err
}

// only fails with fs.ErrNotExist if a position is not 0.
func (m *mag) only(position []int) error {
	if slices.ContainsFunc(position, func(i int) bool { return i != 0 }) {
		return fmt.Errorf("%s: cube %v: %w", m.name, position, fs.ErrNotExist)
	}
	return nil
}

// cube is the array while it is read.
type cube struct {
	*mag
	*arrayfile.Array
	described fs.FileInfo
}

var (
	_ volume.CubeFile   = (*cube)(nil)
	_ vfs.SpeedReporter = (*cube)(nil)
)

// Grid returns the geometry of the array.
func (c *cube) Grid() volume.Grid { return c.grid }

// Info describes the files as they were when they were opened.
func (c *cube) Info() fs.FileInfo { return c.described }

// Version returns the version of the files.
func (c *cube) Version() volume.Version { return vfs.VersionOf(c.described) }

// Close closes the files.
func (c *cube) Close() error { return c.Drop() }

// Speed implements [vfs.SpeedReporter].
func (c *cube) Speed() vfs.Speed { return c.mag.Speed() }

// Fill reads blocks. If a file changed since it was opened, the error of its blocks is volume.ErrChanged.
func (c *cube) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	inside := c.grid.Blocks()
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = nil, nil
		if !b.At.In(inside) {
			b.Err = fmt.Errorf("%s: block %v: the array has %v blocks", c.name, b.At, inside)
			continue
		}
		box := c.grid.BlockBox(b.At).Add(volume.Vec{2: c.t * c.grid.Size[2]})
		voxels := memory(b.At)
		if b.Err = c.readBlock(ctx, box, voxels); b.Err == nil {
			b.Voxels = voxels
		}
		// If a file changed, the voxels may be from the old file, the new file or both. So may be an error.
		if err := c.CheckUnchanged(box); err != nil {
			b.Voxels, b.Err = nil, err
		}
	}
}

// readBlock reads a box into a block, whose padding becomes 0.
func (c *cube) readBlock(ctx context.Context, box volume.Box, block []byte) error {
	size, whole := box.Size(), c.grid.Block
	bytes := c.grid.VoxelBytes() * size[0] * size[1] * size[2]
	if size[0] == whole[0] && (size[1] == whole[1] || size[2] == 1) { // the padding follows the voxels
		clear(block[bytes:])
		return c.Read(ctx, box, block[:bytes])
	}
	clear(block)
	part := make([]byte, bytes)
	if err := c.Read(ctx, box, part); err != nil {
		return err
	}
	row, voxel := size[0]*c.grid.VoxelBytes(), c.grid.VoxelBytes()
	for z := range size[2] {
		for y := range size[1] {
			copy(block[(z*whole[1]+y)*whole[0]*voxel:], part[:row])
			part = part[row:]
		}
	}
	return nil
}
