package view

import (
	"context"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// keeper is a mosaic whose cubes are kept in memory.
type keeper struct{ *mosaic }

var (
	_ volume.Keeper    = keeper{}
	_ volume.Versioned = keeper{}
)

// source is what flat files read: a volume.Keeper if there is memory for it.
func (m *mosaic) source() volume.Source {
	if m.keeper == nil {
		return m
	}
	return keeper{m}
}

// Version names what the mosaic shows.
func (k keeper) Version() vfs.Version { return k.version }

func (k keeper) Reserve(n int64) bool { return k.keeper.Reserve(n) }
func (k keeper) Release(n int64)      { k.keeper.Release(n) }

// Scan implements volume.Scanner, one cube after the other.
func (k keeper) Scan(ctx context.Context, blocks volume.Box, use func(b volume.Vec, block []byte)) error {
	cubes := volume.Box{Min: blocks.Min.Div(k.blocks), Max: blocks.Max.CeilDiv(k.blocks)}
	for c := range cubes.All() {
		lo := c.Mul(k.blocks)
		part := blocks.Intersect(volume.Box{Min: lo, Max: lo.Add(k.blocks)})
		if err := k.scanCube(ctx, c, part, use); err != nil {
			return err
		}
	}
	return nil
}

// scanCube scans blocks of one cube.
func (k keeper) scanCube(ctx context.Context, c volume.Vec, blocks volume.Box, use func(b volume.Vec, block []byte)) error {
	t, err := k.acquire(c)
	if err != nil {
		return err
	}
	if t == nil {
		for b := range blocks.All() {
			use(b, nil)
		}
		return nil
	}
	defer k.release(t)
	lo := c.Mul(k.blocks)
	inCube := volume.Box{Min: blocks.Min.Sub(lo), Max: blocks.Max.Sub(lo)}
	return t.src.(volume.Keeper).Scan(ctx, inCube, func(b volume.Vec, block []byte) { use(b.Add(lo), block) })
}
