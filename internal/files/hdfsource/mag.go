package hdfsource

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

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
	times    int  // of the dataset
	together int  // times of a piece of the dataset
	grid     volume.Grid
	about    volume.About
}

// axes has the axes of a dataset by their index in its shape; −1 if there is none. All others have one value.
type axes struct {
	space   [3]int // x, y, z
	channel int
	time    int
	at      int // the time that the mag has
}

// noAxes are the axes of a dataset without any.
var noAxes = axes{space: [3]int{-1, -1, -1}, channel: -1, time: -1}

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
func (m *mag) WorkMemory(g volume.Grid) int { return 3 * g.BlockBytes() * m.together }

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

// describe describes the cube by its file. The version names its voxels: the other datasets have other voxels of the
// same file.
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
	now, err := m.acquire()
	if err != nil {
		return nil, err
	}
	opened, err := m.openIn(now)
	if err != nil {
		_ = m.release(now) // read-only: nothing can be lost
		return nil, err
	}
	return opened, nil
}

// openIn opens the cube in a version of the file.
func (m *mag) openIn(now *opened) (*cube, error) {
	d, pieces, err := now.dataset(m.path, m.pieceBytes)
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
	if i := m.axes.time; i >= len(shape) || i >= 0 && (uint64(m.axes.at) >= shape[i] || piece[i] != m.together) {
		return false
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
	closed  atomic.Bool
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

// Close closes the file if it was replaced, and no other cube uses this version. Otherwise it stays open for other
// datasets.
func (c *cube) Close() error {
	if c.closed.Swap(true) {
		return fs.ErrClosed
	}
	return c.release(c.file)
}

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
		if c.axes.time >= 0 {
			at[c.axes.time] = uint64(c.axes.at / c.together)
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

// Fill reads and decodes blocks. The error of a damaged one is a *volume.FormatError. If the file changed since it was
// opened, the error of all blocks is volume.ErrChanged.
func (c *cube) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	inside := c.grid.Blocks()
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Shared, b.Err = nil, false, nil
		if !b.At.In(inside) {
			b.Err = fmt.Errorf("%s: %s: block %v: the dataset has %v blocks", c.name, c.path, b.At, inside)
			continue
		}
		if err := c.readBlock(ctx, b, memory); err != nil {
			b.Voxels, b.Shared, b.Err = nil, false, c.located(err)
		}
	}
	if err := vfs.Unchanged(c.file.handle, c.file.info); err != nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Shared, blocks[i].Err = nil, false, fmt.Errorf("%s: %w", c.name, err)
		}
	}
}

// readBlock reads the chunks of a block. It sets no voxels if none was written, and the fill value is zero.
func (c *cube) readBlock(ctx context.Context, b *volume.Block, memory func(at volume.Vec) []byte) (err error) {
	piece := c.pieces.shape()
	if c.isDirect(piece) {
		for at := range c.piecesOf(b.At) { // one
			if err := ctx.Err(); err != nil {
				return err
			}
			b.Voxels, err = c.pieces.read(ctx, c.file, at, func() []byte { return memory(b.At) })
		}
		if err == nil && b.Voxels == nil {
			c.fillAbsent(b, memory)
		}
		return err
	}
	decoded := scratch.Get(product(piece) * c.values.stored)
	defer scratch.Put(decoded)
	for at := range c.piecesOf(b.At) {
		if err := ctx.Err(); err != nil {
			return err
		}
		values, err := c.pieces.read(ctx, c.file, at, func() []byte { return *decoded })
		switch {
		case err != nil:
			return err
		case values == nil:
			continue
		case b.Voxels == nil: // chunks before this one, and after it, may be absent
			b.Voxels = memory(b.At)
			c.absent().Fill(b.Voxels)
		}
		c.place(b.Voxels, values, piece, at)
	}
	if b.Voxels == nil {
		c.fillAbsent(b, memory)
	}
	return nil
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

// fillAbsent sets the voxels of a block that was never written, unless they are zero.
func (c *cube) fillAbsent(b *volume.Block, memory func(at volume.Vec) []byte) {
	p := c.absent()
	if strings.Trim(p.Value, "\x00") == "" {
		return
	}
	if b.Shares {
		b.Voxels = scratch.Filled(p)
		b.Shared = b.Voxels != nil
	}
	if !b.Shared {
		b.Voxels = memory(b.At)
		p.Fill(b.Voxels)
	}
}

// absent returns a block of the fill value.
func (c *cube) absent() scratch.Pattern {
	stored, value := make([]byte, c.values.stored), make([]byte, c.values.kind.Size())
	copy(stored, c.dataset.FillValue())
	c.values.convert(value, len(value), stored)
	rows := [3]int{c.grid.Block[0] * c.grid.VoxelBytes(), c.grid.Block[1], c.grid.Block[2]}
	return scratch.Pattern{Value: string(value), Block: rows, Inside: rows}
}

// place copies the values of a chunk into a block: those of the time of the mag.
func (c *cube) place(voxels, chunk []byte, piece []int, at []uint64) {
	strides := make([]int, len(piece)) // in the chunk, in bytes
	for i, n := len(piece)-1, c.values.stored; i >= 0; i-- {
		strides[i] = n
		n *= piece[i]
	}
	if k := c.axes.time; k >= 0 {
		chunk = chunk[c.axes.at%c.together*strides[k]:]
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
