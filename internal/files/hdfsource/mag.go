package hdfsource

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"

	"github.com/wkwfs/wkwfs/hdf5"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// mag is a dataset of HDF5 as a mag of one cube.
type mag struct {
	*source
	path     string // of the dataset
	axes     axes
	values   values
	unsigned bool // integers have no sign, whatever the type of the dataset says
	grid     volume.Grid
	about    volume.About
}

// axes has the axes of a dataset by their index in its shape; −1 if there is none. All others have one value.
type axes struct {
	space   [3]int // x, y, z
	channel int
}

var (
	_ volume.Mag            = (*mag)(nil)
	_ volume.MemoryReporter = (*mag)(nil)
	_ vfs.SpeedReporter     = (*mag)(nil)
)

// About describes the dataset.
func (m *mag) About() volume.About { return m.about }

// CubeGrid returns the geometry of the only cube.
func (m *mag) CubeGrid() (volume.Grid, error) { return m.grid, nil }

// Bounds returns the box of the dataset.
func (m *mag) Bounds() (volume.Box, error) { return m.grid.CubeBox(volume.Vec{}), nil }

// Speed implements [vfs.SpeedReporter].
func (m *mag) Speed() vfs.Speed { return vfs.SpeedOf(m.fsys).OfChunks() }

// WorkMemory implements [volume.MemoryReporter]: stored and decoded bytes of a chunk, and those between two filters.
func (m *mag) WorkMemory(g volume.Grid) int { return 3 * g.BlockBytes() }

// Cubes lists 0 at each level.
func (m *mag) Cubes(zy ...int) ([]int, error) { return []int{0}, m.only(zy) }

// StatCubes describes the file.
func (m *mag) StatCubes(zyx ...int) (fs.FileInfo, error) {
	if err := m.only(zyx); err != nil {
		return nil, err
	}
	info, err := m.Stat()
	if err != nil || len(zyx) < 3 {
		return info, err
	}
	return m.describe(info), nil
}

// only fails with fs.ErrNotExist if a position is not 0.
func (m *mag) only(position []int) error {
	if slices.ContainsFunc(position, func(i int) bool { return i != 0 }) {
		return fmt.Errorf("%s: %s: cube %v: %w", m.name, m.path, position, fs.ErrNotExist)
	}
	return nil
}

// describe describes the cube by its file. The version names its voxels: the other datasets have other voxels of the same file.
func (m *mag) describe(info fs.FileInfo) fs.FileInfo {
	version := vfs.VersionOf(info)
	sum := sha256.Sum256(fmt.Appendf(version[:], "%s %v %v %v", m.path, m.axes, m.values, m.grid))
	return vfs.WithVersion(info, vfs.Version(sum[:16]))
}

// OpenCube opens the only cube, in the file as it is now.
func (m *mag) OpenCube(c volume.Vec) (volume.CubeFile, error) {
	if err := m.only(c[:]); err != nil {
		return nil, err
	}
	now, err := m.version()
	if err != nil {
		return nil, err
	}
	d, pieces, err := now.dataset(m.path)
	if err != nil {
		return nil, m.located(err)
	}
	cube := &cube{mag: m, file: now, dataset: d, pieces: pieces, info: m.describe(now.info)}
	v, err := valuesOf(d.Type())
	if m.unsigned {
		v.kind = m.values.kind
	}
	if err != nil || v != m.values || !m.fits(d, pieces) {
		return nil, fmt.Errorf("%s: %s: its type or size has changed: %w", m.name, m.path, volume.ErrChanged)
	}
	return cube, nil
}

// fits reports whether a dataset has the geometry of the mag.
func (m *mag) fits(d *hdf5.Dataset, pieces chunks) bool {
	shape, piece := d.Shape(), pieces.shape()
	for axis, i := range m.axes.space {
		if i >= len(shape) || i >= 0 && (uint64(m.grid.Size[axis]) > shape[i] || m.grid.Block[axis] != piece[i]) {
			return false
		}
	}
	return m.axes.channel < 0 || m.axes.channel < len(shape) && shape[m.axes.channel] == uint64(m.grid.Channels)
}

// cube is an open dataset.
type cube struct {
	*mag
	file    *opened
	dataset *hdf5.Dataset
	pieces  chunks
	info    fs.FileInfo
}

var (
	_ volume.CubeFile = (*cube)(nil)
)

// Grid returns the geometry of the dataset.
func (c *cube) Grid() volume.Grid { return c.grid }

// Info describes the file as it was when it was opened.
func (c *cube) Info() fs.FileInfo { return c.info }

// Version returns the version of the dataset.
func (c *cube) Version() volume.Version { return vfs.VersionOf(c.info) }

// Close does nothing: the file stays open for other datasets.
func (c *cube) Close() error { return nil }

// piecesOf yields the positions of the chunks of a block: one for each part of the channels.
func (c *cube) piecesOf(b volume.Vec) func(yield func(at []uint64) bool) {
	return func(yield func(at []uint64) bool) {
		piece := c.pieces.shape()
		at := make([]uint64, len(piece))
		for axis, i := range c.axes.space {
			if i >= 0 {
				at[i] = uint64(b[axis])
			}
		}
		if c.axes.channel < 0 {
			yield(at)
			return
		}
		for channel := 0; channel < c.grid.Channels; channel += piece[c.axes.channel] {
			if at[c.axes.channel] = uint64(channel / piece[c.axes.channel]); !yield(at) {
				return
			}
		}
	}
}

// Fill reads and decodes blocks. The error of a damaged one is a *volume.FormatError. If the file changed since it was opened, the error
// of all blocks is volume.ErrChanged.
func (c *cube) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	inside := c.grid.Blocks()
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = nil, nil
		if !b.At.In(inside) {
			b.Err = fmt.Errorf("%s: %s: block %v: the dataset has %v blocks", c.name, c.path, b.At, inside)
			continue
		}
		voxels, err := c.readBlock(ctx, b.At, memory)
		if err != nil {
			voxels, err = nil, c.located(err)
		}
		b.Voxels, b.Err = voxels, err
	}
	if err := vfs.Unchanged(c.file.handle, c.file.info); err != nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Err = nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
}

// readBlock reads the chunks of a block. It returns nil if none was written, and the fill value is zero.
func (c *cube) readBlock(ctx context.Context, b volume.Vec, memory func(at volume.Vec) []byte) (voxels []byte, err error) {
	piece := c.pieces.shape()
	if c.isDirect(piece) {
		return c.readDirect(ctx, b, memory)
	}
	decoded := scratch.Get(product(piece) * c.values.stored)
	defer scratch.Put(decoded)
	zero := c.fillsZero()
	for at := range c.piecesOf(b) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		values, err := c.pieces.read(ctx, c.file, at, func() []byte { return *decoded })
		switch {
		case err != nil:
			return nil, err
		case values == nil && zero:
			continue
		case values == nil:
			values = *decoded
			c.fill(values)
		}
		if voxels == nil {
			voxels = memory(b)
			clear(voxels)
		}
		c.place(voxels, values, piece, at)
	}
	return voxels, nil
}

// readDirect is readBlock for a block that is a chunk.
func (c *cube) readDirect(ctx context.Context, b volume.Vec, memory func(at volume.Vec) []byte) (voxels []byte, err error) {
	for at := range c.piecesOf(b) { // one
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		voxels, err = c.pieces.read(ctx, c.file, at, func() []byte { return memory(b) })
	}
	if voxels == nil && err == nil && !c.fillsZero() {
		voxels = memory(b)
		c.fill(voxels)
	}
	return voxels, err
}

// isDirect reports whether a chunk has the voxels of a block in the order of a block.
func (c *cube) isDirect(piece []int) bool {
	if c.axes.channel >= 0 || !c.values.plain() {
		return false
	}
	last := len(piece)
	for _, i := range c.axes.space {
		if i < 0 {
			continue
		}
		if i > last {
			return false
		}
		last = i
	}
	return product(piece)*c.values.stored == c.grid.BlockBytes()
}

// fillsZero reports whether the fill value is zero.
func (c *cube) fillsZero() bool {
	return !slices.ContainsFunc(c.dataset.FillValue(), func(b byte) bool { return b != 0 })
}

// fill sets the stored values of a chunk to the fill value, in pieces of twice the length.
func (c *cube) fill(chunk []byte) {
	for n := copy(chunk, c.dataset.FillValue()); n > 0 && n < len(chunk); n *= 2 {
		copy(chunk[n:], chunk[:n])
	}
}

// place copies the values of a chunk into a block.
func (c *cube) place(voxels, chunk []byte, piece []int, at []uint64) {
	strides := make([]int, len(piece)) // in the chunk, in bytes
	for i, n := len(piece)-1, c.values.stored; i >= 0; i-- {
		strides[i] = n
		n *= piece[i]
	}
	size := c.values.kind.Size()
	voxel, first, channels := size*c.grid.Channels, 0, 1
	if k := c.axes.channel; k >= 0 {
		first = int(at[k]) * piece[k]
		channels = min(piece[k], c.grid.Channels-first)
	}
	stride := func(i int) int {
		if i < 0 {
			return 0
		}
		return strides[i]
	}
	block := c.grid.Block
	sx, sy, sz, sc := stride(c.axes.space[0]), stride(c.axes.space[1]), stride(c.axes.space[2]), stride(c.axes.channel)
	for z := range block[2] {
		for y := range block[1] {
			row := voxels[(z*block[1]+y)*block[0]*voxel:]
			for channel := range channels {
				from := chunk[z*sz+y*sy+channel*sc:]
				to := row[(first+channel)*size:]
				if sx == c.values.stored {
					c.values.convert(to, voxel, from[:block[0]*c.values.stored])
					continue
				}
				for x := range block[0] {
					c.values.convert(to[x*voxel:], voxel, from[x*sx:][:c.values.stored])
				}
			}
		}
	}
}
