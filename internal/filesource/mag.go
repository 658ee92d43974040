package filesource

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/arrayfile"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// mag is an array as a mag of one cube.
type mag struct {
	fsys    fs.FS
	name    string // of the file, or of the folder of pictures
	grid    volume.Grid
	about   volume.About
	unpack  string // directory for unpacked streams
	current atomic.Pointer[opened]
}

// opened is one version of the files of an array.
type opened struct {
	*arrayfile.Array
	info fs.FileInfo
}

var (
	_ volume.Mag            = (*mag)(nil)
	_ volume.MemoryReporter = (*mag)(nil)
	_ vfs.SpeedReporter     = (*mag)(nil)
)

// newMag returns the array in a file or a folder of pictures. It closes all files.
func newMag(fsys fs.FS, name string, o Options) (*mag, *arrayfile.Array, error) {
	m := &mag{fsys: fsys, name: name, unpack: o.Unpack}
	first, err := m.parse()
	if err != nil {
		return nil, nil, err
	}
	a := first.Array
	m.grid = a.Grid
	m.grid.Block = blockOf(a.Grid, a.Unit(), cmp.Or(o.blockBytes, blockBytes))
	if !a.Positioned || a.PositionErr != nil {
		m.grid.Origin = volume.Vec{}
	}
	if err := m.grid.Validate(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	m.about = volume.About{Factor: volume.Factor{1, 1, 1}, Category: categoryOf(a.Labels.Content), Compression: a.StoredAs()}
	m.current.Store(first)
	return m, a, nil
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

// parse opens the array as it is now, and closes its files.
func (m *mag) parse() (*opened, error) {
	a, err := arrayfile.OpenFS(m.fsys, m.name)
	if err != nil {
		return nil, err
	}
	a.Unpack(m.unpack)
	if err := a.Release(); err != nil {
		return nil, err
	}
	return &opened{a, infoOf(a.Infos())}, nil
}

// Stat describes the file or the folder.
func (m *mag) Stat() (fs.FileInfo, error) { return fs.Stat(m.fsys, m.name) }

// About describes the array.
func (m *mag) About() volume.About { return m.about }

// CubeGrid returns the geometry of the only cube.
func (m *mag) CubeGrid() (volume.Grid, error) { return m.grid, nil }

// Bounds returns the box of the array.
func (m *mag) Bounds() (volume.Box, error) { return m.grid.CubeBox(volume.Vec{}), nil }

// Speed implements [vfs.SpeedReporter].
func (m *mag) Speed() vfs.Speed { return vfs.SpeedOf(m.fsys).OfChunks() }

// WorkMemory implements [volume.MemoryReporter]: a unit that is decoded is stored in fewer bytes, and takes scratch memory for blocks at
// the edge.
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
	names := m.current.Load().Names()
	infos := make([]fs.FileInfo, len(names))
	for i, name := range names {
		info, err := fs.Stat(m.fsys, name)
		if err != nil {
			return nil, err
		}
		infos[i] = info
	}
	return infoOf(infos), nil
}

// OpenCube opens the only cube. If the files have changed since they were opened last, their headers are read again.
func (m *mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if err := m.only(c[:]); err != nil {
		return nil, err
	}
	now := m.current.Load()
	err := now.Hold()
	if err != nil {
		if now, err = m.reopen(); err == nil {
			err = now.Hold()
		}
	}
	if err != nil {
		return nil, err
	}
	return &cube{mag: m, opened: now}, nil
}

// reopen reads the headers again. The geometry of a mag does not change.
func (m *mag) reopen() (*opened, error) {
	now, err := m.parse()
	if err != nil {
		return nil, err
	}
	g := now.Grid
	if g.Size != m.grid.Size || g.Type != m.grid.Type || g.Channels != m.grid.Channels {
		return nil, fmt.Errorf("%s: its size or type has changed: %w", m.name, volume.ErrChanged)
	}
	m.current.Store(now)
	return now, nil
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
	*opened
}

var (
	_ volume.CubeFile   = (*cube)(nil)
	_ vfs.SpeedReporter = (*cube)(nil)
)

// Grid returns the geometry of the array.
func (c *cube) Grid() volume.Grid { return c.grid }

// Info describes the files as they were when they were opened.
func (c *cube) Info() fs.FileInfo { return c.info }

// Version returns the version of the files.
func (c *cube) Version() volume.Version { return vfs.VersionOf(c.info) }

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
		box := c.grid.BlockBox(b.At)
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
