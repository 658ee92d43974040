package view

import (
	"context"
	"errors"
	"syscall"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Block reads a block of the cube that it lies in.
func (m *mosaic) Block(ctx context.Context, b volume.Vec) (block []byte, err error) {
	err = m.Blocks(ctx, []volume.Vec{b}, func(_ volume.Vec, read []byte) { block = read })
	return block, err
}

// Blocks implements volume.Batcher. Blocks of one cube that follow each other are read
// together.
func (m *mosaic) Blocks(ctx context.Context, bs []volume.Vec, use func(b volume.Vec, block []byte)) error {
	for len(bs) > 0 {
		c, n := bs[0].Div(m.blocks), 1
		for n < len(bs) && bs[n].Div(m.blocks) == c {
			n++
		}
		if err := m.blocksOf(ctx, c, bs[:n], use); err != nil {
			return err
		}
		bs = bs[n:]
	}
	return nil
}

// blocksOf reads blocks of one cube. If a file server has forgotten it, it is opened once
// more: what it holds is still of the version that is shown.
func (m *mosaic) blocksOf(ctx context.Context, c volume.Vec, bs []volume.Vec, use func(b volume.Vec, block []byte)) error {
	err := m.readCube(ctx, c, bs, use)
	if errors.Is(err, syscall.ESTALE) {
		return m.readCube(ctx, c, bs, use)
	}
	return err
}

func (m *mosaic) readCube(ctx context.Context, c volume.Vec, bs []volume.Vec, use func(b volume.Vec, block []byte)) error {
	t, err := m.acquire(c)
	if err != nil {
		return err
	}
	if t == nil {
		for _, b := range bs {
			use(b, nil)
		}
		return nil
	}
	defer m.release(t)
	lo := c.Mul(m.blocks)
	inCube := make([]volume.Vec, len(bs))
	for i, b := range bs {
		inCube[i] = b.Sub(lo)
	}
	err = volume.ReadBlocks(ctx, t.src, inCube, func(b volume.Vec, block []byte) { use(b.Add(lo), block) })
	if errors.Is(err, syscall.ESTALE) {
		m.forget(t)
	}
	return err
}

// keeper is a mosaic whose cubes are kept in memory.
type keeper struct{ *mosaic }

var (
	_ volume.Batcher   = (*mosaic)(nil)
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
func (k keeper) Scan(ctx context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	cubes := volume.Box{Min: blocks.Min.Div(k.blocks), Max: blocks.Max.CeilDiv(k.blocks)}
	for c := range cubes.All() {
		lo := c.Mul(k.blocks)
		part := blocks.Intersect(volume.Box{Min: lo, Max: lo.Add(k.blocks)})
		if err := k.scanCube(ctx, c, part, memory); err != nil {
			return err
		}
	}
	return nil
}

// scanCube scans blocks of one cube.
func (k keeper) scanCube(ctx context.Context, c volume.Vec, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	t, err := k.acquire(c)
	if t == nil || err != nil {
		return err
	}
	defer k.release(t)
	lo := c.Mul(k.blocks)
	inCube := volume.Box{Min: blocks.Min.Sub(lo), Max: blocks.Max.Sub(lo)}
	return t.src.(volume.Keeper).Scan(ctx, inCube, func(b volume.Vec) []byte { return memory(b.Add(lo)) })
}
