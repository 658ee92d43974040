package arrayfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wkwfs/wkwfs/volume"
)

// OfMag returns the only cube of a mag as an array. file is the path of the file that has the mag: the array has its
// name, and its version. Close calls also.
func OfMag(file string, m volume.Mag, also func() error) (*Array, error) {
	return openWith(func(a *Array, name string) error {
		if _, err := a.open(name); err != nil {
			return err
		}
		cube, err := m.OpenCube(volume.Vec{})
		if err != nil {
			return err
		}
		a.also = func() error { return errors.Join(cube.Close(), also()) }
		g := cube.Grid()
		a.Grid, a.Positioned = g, g.Origin != volume.Vec{}
		a.voxels = ofCube{cube, g}
		return a.validate(a.Name())
	}, parent(file), filepath.Base(file))
}

// ofCube reads the voxels of a cube. grid is that of the cube.
type ofCube struct {
	volume.CubeFile
	grid volume.Grid
}

// batchBytes is the memory of the blocks that are decoded at a time, if one is not larger.
const batchBytes = 16 << 20

// read implements voxels.
func (c ofCube) read(ctx context.Context, box volume.Box, dst []byte) error {
	var batch []volume.Block
	most := max(1, batchBytes/c.grid.BlockBytes())
	for at := range box.Div(c.grid.Block).All() {
		if batch = append(batch, volume.Block{At: at}); len(batch) < most {
			continue
		}
		if err := c.readBlocks(ctx, batch, box, dst); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return c.readBlocks(ctx, batch, box, dst)
}

// readBlocks decodes blocks, and copies what a box has of them.
func (c ofCube) readBlocks(ctx context.Context, batch []volume.Block, box volume.Box, dst []byte) error {
	c.Fill(ctx, batch, func(volume.Vec) []byte { return make([]byte, c.grid.BlockBytes()) })
	size, voxel := box.Size(), c.grid.VoxelBytes()
	for _, b := range batch {
		if b.Err != nil {
			return fmt.Errorf("block %v: %w", b.At, b.Err)
		}
		whole := c.grid.BlockBox(b.At)
		part := whole.Intersect(box)
		n := part.Size()[0] * voxel
		for z := part.Min[2]; z < part.Max[2]; z++ {
			for y := part.Min[1]; y < part.Max[1]; y++ {
				first := volume.Vec{part.Min[0], y, z}
				row := dst[first.Sub(box.Min).Index(size)*voxel:][:n]
				if b.Voxels == nil {
					clear(row)
					continue
				}
				copy(row, b.Voxels[first.Sub(whole.Min).Index(c.grid.Block)*voxel:])
			}
		}
	}
	return nil
}
