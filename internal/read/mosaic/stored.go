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
	cubes := local.Div(m.cube.Size)
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

// LZ4Sizes returns the lengths of the LZ4 blocks that are stored for blocks of one cube, as [volume.LZ4Source] does. It
// opens the cube. There is at least one block.
func (m *Mosaic) LZ4Sizes(ctx context.Context, blocks []volume.Vec) (sizes []int64, err error) {
	err = m.withCube(ctx, blocks[0].Div(m.blocks), func(f volume.CubeFile, lo volume.Vec) error {
		source, ok := f.(volume.LZ4Source)
		if !ok {
			return nil
		}
		local := make([]volume.Vec, len(blocks))
		for i, at := range blocks {
			local[i] = at.Sub(lo)
		}
		sizes, err = source.LZ4Sizes(local)
		return err
	})
	return sizes, err
}

// FillLZ4 copies the LZ4 blocks that are stored for blocks of one cube into memory, as [volume.LZ4Source] does.
// LZ4Sizes of the blocks is not nil. It returns the error of a block that has one.
func (m *Mosaic) FillLZ4(ctx context.Context, blocks []volume.Vec, memory func(at volume.Vec) []byte) error {
	return m.withCube(ctx, blocks[0].Div(m.blocks), func(f volume.CubeFile, lo volume.Vec) error {
		source, ok := f.(volume.LZ4Source)
		if !ok {
			return fmt.Errorf("block %v: not stored as LZ4", blocks[0])
		}
		local := make([]volume.Block, len(blocks))
		for i, at := range blocks {
			local[i].At = at.Sub(lo)
		}
		source.FillLZ4(ctx, local, func(at volume.Vec) []byte { return memory(at.Add(lo)) })
		return firstError(local)
	})
}

// firstError returns the error of a block, if one has an error. It is the first, or one that says that the file handle
// is stale.
func firstError(blocks []volume.Block) (first error) {
	for _, b := range blocks {
		if first == nil || errors.Is(b.Err, syscall.ESTALE) {
			first = b.Err
		}
	}
	return first
}

// withCube calls use with cube c, and with the position of its first block. If there is no cube, it returns
// fs.ErrNotExist. Like fillCube, it opens a cube with a stale file handle again, once.
func (m *Mosaic) withCube(ctx context.Context, c volume.Vec, use func(f volume.CubeFile, lo volume.Vec) error) error {
	err := m.useCube(ctx, c, use)
	if errors.Is(err, syscall.ESTALE) {
		err = m.useCube(ctx, c, use)
	}
	if errors.Is(err, vfs.ErrChanged) {
		m.outdated.Store(true) // the next open takes a new snapshot
	}
	return err
}

func (m *Mosaic) useCube(ctx context.Context, c volume.Vec, use func(f volume.CubeFile, lo volume.Vec) error) error {
	h, err := m.acquire(ctx, c)
	if h == nil {
		if err == nil {
			err = fmt.Errorf("cube %v: %w", c, fs.ErrNotExist)
		}
		return err
	}
	defer m.release(h)
	err = use(h.file, c.Mul(m.blocks))
	if errors.Is(err, syscall.ESTALE) {
		m.discard(h)
	}
	return err
}
