package mosaic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Has reports whether a box, in absolute voxels of the mag, has a voxel of a cube in the snapshot.
func (m *Mosaic) Has(box volume.Box) (bool, error) {
	local := m.Local(box).Intersect(volume.Box{Max: m.grid.Size})
	if local.Empty() {
		return false, nil
	}
	cubes := volume.Box{Min: local.Min.Div(m.cube.Size), Max: local.Max.CeilDiv(m.cube.Size)}
	for c := range cubes.All() {
		version, known := m.snapshot.version(c)
		if known && version == absent {
			continue
		}
		if known {
			return true, nil
		}
		_, err := m.mag.StatCubes(c[2], c[1], c[0])
		if !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// LZ4Size returns the length of the LZ4 block that is stored for a block, as [volume.LZ4Source] does. It opens the cube.
func (m *Mosaic) LZ4Size(ctx context.Context, at volume.Vec) (n int64, err error) {
	err = m.withCube(ctx, at, func(f volume.CubeFile, b volume.Vec) error {
		if source, ok := f.(volume.LZ4Source); ok {
			n, err = source.LZ4Size(b)
			return err
		}
		return nil
	})
	return n, err
}

// AppendLZ4 appends the LZ4 block that is stored for a block to dst, as [volume.LZ4Source] does. LZ4Size of the block is
// not 0.
func (m *Mosaic) AppendLZ4(ctx context.Context, dst []byte, at volume.Vec) (longer []byte, err error) {
	longer = dst
	err = m.withCube(ctx, at, func(f volume.CubeFile, b volume.Vec) error {
		source, ok := f.(volume.LZ4Source)
		if !ok {
			return fmt.Errorf("block %v: not stored as LZ4", at)
		}
		longer, err = source.AppendLZ4(ctx, dst, b)
		return err
	})
	return longer, err
}

// withCube calls use with the cube of a block, and with the position of the block in the cube. If there is no cube, it
// returns fs.ErrNotExist. Like fillCube, it opens a cube with a stale file handle again, once.
func (m *Mosaic) withCube(ctx context.Context, at volume.Vec, use func(volume.CubeFile, volume.Vec) error) error {
	err := m.useCube(ctx, at, use)
	if errors.Is(err, syscall.ESTALE) {
		err = m.useCube(ctx, at, use)
	}
	if errors.Is(err, vfs.ErrChanged) {
		m.outdated.Store(true) // the next open takes a new snapshot
	}
	return err
}

func (m *Mosaic) useCube(ctx context.Context, at volume.Vec, use func(volume.CubeFile, volume.Vec) error) error {
	c := at.Div(m.blocks)
	h, err := m.acquire(ctx, c)
	if h == nil {
		if err == nil {
			err = fmt.Errorf("cube %v: %w", c, fs.ErrNotExist)
		}
		return err
	}
	defer m.release(h)
	err = use(h.file, at.Sub(c.Mul(m.blocks)))
	if errors.Is(err, syscall.ESTALE) {
		m.discard(h)
	}
	return err
}
