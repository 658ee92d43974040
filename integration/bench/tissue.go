package main

import (
	"context"
	"fmt"
	"hash/crc32"

	"github.com/wkwfs/wkwfs/internal/jobs/sample"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// tissue makes cubes that are cut from the tissue of package sample.
type tissue struct {
	side      int // of a cube in voxels
	blockType wkw.BlockType
	paint     func(sample.Cut) volume.Source
}

// piece returns a mag of the given number of cubes.
func (t tissue) piece(name string, cubes volume.Vec) piece {
	g := t.cut(volume.Vec{}).Grid()
	return piece{name, cubes, wkw.Header{
		BlockSide: blockSide, CubeBlocks: t.side / blockSide,
		BlockType: t.blockType, Type: g.Type, Channels: g.Channels,
	}, t}
}

// cut returns the voxels of cube c.
func (t tissue) cut(c volume.Vec) volume.Source {
	side := volume.Cube(t.side)
	return t.paint(sample.Cut{Box: c.BoxOfOne().Mul(side), Block: blockSide, Mag: 1})
}

func (t tissue) version(ctx context.Context) (string, error) {
	first, err := volume.ReadBlock(ctx, t.cut(volume.Vec{}), volume.Vec{})
	return fmt.Sprintf("first block %08x", crc32.ChecksumIEEE(first)), err
}

func (t tissue) write(ctx context.Context, path string, c volume.Vec) error {
	return wkw.WriteCube(ctx, path, t.blockType, t.cut(c))
}
