package volume

import (
	"context"
	"errors"
	"io/fs"
)

// Limits of one Fill of ReadBox. A block of more than fillBytes is read alone.
const (
	fillBytes  = 8 << 20
	fillBlocks = 4096
)

// ReadBox returns the voxels of a box, in Fortran order with the channels of a voxel adjacent. The box
// is in voxels of the mag, in the coordinates of [Mag.Bounds]. It may extend beyond the bounds. Voxels
// that were never written are 0.
//
// ReadBox fails if the box is empty, or if any block that it needs cannot be read. It opens one cube
// after the other. To use more processors, read several boxes at once.
func ReadBox(ctx context.Context, m Mag, box Box) ([]byte, error) {
	cube, err := m.CubeGrid()
	if err != nil {
		return nil, err
	}
	out := boxArray{grid: cube}
	out.grid.Origin, out.grid.Size = box.Min, box.Size()
	if err := out.grid.Validate(); err != nil {
		return nil, err
	}
	out.voxels = make([]byte, out.grid.Bytes())
	for c := range box.Sub(cube.Origin).Div(cube.Size).All() {
		if err := out.readCube(ctx, m, c); err != nil {
			return nil, err
		}
	}
	return out.voxels, nil
}

// boxArray is a box of voxels in memory.
type boxArray struct {
	grid   Grid // Origin and Size are those of the box, Block that of the source
	voxels []byte
}

func (a *boxArray) box() Box { return Box{a.grid.Origin, a.grid.Origin.Add(a.grid.Size)} }

// readCube reads the part of the box that is in cube c.
func (a *boxArray) readCube(ctx context.Context, m Mag, c Vec) error {
	f, err := m.OpenCube(c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	g := f.Grid()
	needed := a.box().Intersect(Box{g.Origin, g.Origin.Add(g.Size)}).Sub(g.Origin).Div(g.Block)
	limit := min(max(1, fillBytes/g.BlockBytes()), fillBlocks)
	var batch []Block
	for at := range needed.All() {
		batch = append(batch, Block{At: at, Shares: true})
		if len(batch) == limit {
			if err := a.readBlocks(ctx, f, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return a.readBlocks(ctx, f, batch)
}

// readBlocks reads blocks of src and copies their voxels to the box.
func (a *boxArray) readBlocks(ctx context.Context, src Source, blocks []Block) error {
	g := src.Grid()
	src.Fill(ctx, blocks, func(Vec) []byte { return make([]byte, g.BlockBytes()) })
	for _, b := range blocks {
		if b.Err != nil {
			return b.Err
		}
		if b.Voxels != nil {
			stored := g.BlockBox(b.At)
			a.copyRows(b.Voxels, stored.Add(g.Origin))
		}
	}
	return nil
}

// copyRows copies those voxels of a block to the box that are in it. The voxels of the block are those in
// stored, and padding after them.
func (a *boxArray) copyRows(block []byte, stored Box) {
	g, voxel := a.grid, a.grid.VoxelBytes()
	part := a.box().Intersect(stored)
	row := part.Size()[0] * voxel
	for z := part.Min[2]; z < part.Max[2]; z++ {
		for y := part.Min[1]; y < part.Max[1]; y++ {
			first := Vec{part.Min[0], y, z}
			to, from := first.Sub(g.Origin).Index(g.Size), first.Sub(stored.Min).Index(g.Block)
			copy(a.voxels[to*voxel:][:row], block[from*voxel:][:row])
		}
	}
}
