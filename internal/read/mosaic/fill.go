package mosaic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Key implements [volume.Keyed]: a block has the version of its cube in the snapshot. Key takes no lock.
func (m *Mosaic) Key(at volume.Vec) (volume.Key, bool) {
	c := at.Div(m.blocks)
	version, known := m.snapshot.version(c)
	if !known || version == absent {
		return volume.Key{}, known
	}
	return volume.Key{Version: version, Index: uint64(at.Sub(c.Mul(m.blocks)).Index(m.blocks))}, true
}

// Resolve implements [volume.Keyed]: it opens the cube of the block.
func (m *Mosaic) Resolve(ctx context.Context, at volume.Vec) error {
	h, err := m.acquire(ctx, at.Div(m.blocks))
	if h != nil {
		m.release(h)
	}
	return err
}

// Speed implements vfs.SpeedReporter.
func (m *Mosaic) Speed() vfs.Speed { return vfs.SpeedOf(m.mag) }

// WorkMemory implements [volume.MemoryReporter].
func (m *Mosaic) WorkMemory(volume.Grid) int { return volume.WorkMemory(m.mag, m.cube) }

// Fill implements [volume.Source]. It reads one cube after another, or many at once if the source answers late.
func (m *Mosaic) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	cubes := m.groupByCube(blocks)
	if !m.Speed().Late {
		for _, ofCube := range cubes {
			m.fillCube(ctx, ofCube, memory)
		}
		return
	}
	for range parallel.Each(cubes, func(ofCube []volume.Block) struct{} {
		m.fillCube(ctx, ofCube, memory)
		return struct{}{}
	}) {
	}
}

// Announce implements [volume.Announcer]. It opens the cubes of the box, unless they are many. It stops at the first
// cube that takes no announcements: the others do not, either.
func (m *Mosaic) Announce(ctx context.Context, box volume.Box) {
	cubes := box.Div(m.blocks)
	if !hasAtMost(cubes, m.surveyor.limits.announced()) {
		return
	}
	for c := range cubes.All() {
		if ctx.Err() != nil || !m.announce(ctx, c, box) {
			return
		}
	}
}

// announce announces the part of a box in cube c. It returns false if the cube takes no announcements.
func (m *Mosaic) announce(ctx context.Context, c volume.Vec, box volume.Box) bool {
	h, _ := m.acquire(ctx, c)
	if h == nil {
		return true
	}
	defer m.release(h)
	a, ok := h.file.(volume.Announcer)
	if ok {
		blocks := c.BoxOfOne().Mul(m.blocks)
		a.Announce(ctx, box.Intersect(blocks).Sub(blocks.Min))
	}
	return ok
}

// groupByCube sorts blocks by their cubes and cuts them into one slice for each cube.
func (m *Mosaic) groupByCube(blocks []volume.Block) (cubes [][]volume.Block) {
	byCube := func(a, b volume.Block) int { return compare(a.At.Div(m.blocks), b.At.Div(m.blocks)) }
	if !slices.IsSortedFunc(blocks, byCube) {
		slices.SortStableFunc(blocks, byCube)
	}
	start := 0
	for i := range blocks {
		if i+1 == len(blocks) || byCube(blocks[i], blocks[i+1]) != 0 {
			cubes = append(cubes, blocks[start:i+1])
			start = i + 1
		}
	}
	return cubes
}

// compare orders positions, z slowest.
func compare(a, b volume.Vec) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// fillCube decodes blocks of one cube. A file server may report a stale file handle for a cube that has not changed.
// Then fillCube opens the cube again, once.
func (m *Mosaic) fillCube(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	if !m.readCube(ctx, blocks, memory) {
		return
	}
	var again []volume.Block
	for _, b := range blocks {
		if errors.Is(b.Err, syscall.ESTALE) {
			again = append(again, volume.Block{At: b.At, Shares: b.Shares})
		}
	}
	m.readCube(ctx, again, memory)
	for _, read := range again {
		blocks[slices.IndexFunc(blocks, func(b volume.Block) bool { return b.At == read.At })] = read
	}
}

// readCube decodes blocks of one cube, and reports whether its file handle is stale.
func (m *Mosaic) readCube(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) (stale bool) {
	c := blocks[0].At.Div(m.blocks)
	h, err := m.acquire(ctx, c)
	if h == nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Shared, blocks[i].Err = nil, false, err
		}
		return errors.Is(err, syscall.ESTALE)
	}
	defer m.release(h)
	lo := c.Mul(m.blocks)
	for i := range blocks {
		blocks[i].At = blocks[i].At.Sub(lo)
	}
	panicked := guard.Do("mosaic.fill", func() error {
		guard.Pass("mosaic.fill")
		h.file.Fill(ctx, blocks, func(at volume.Vec) []byte { return memory(at.Add(lo)) })
		return nil
	})
	for i := range blocks {
		if panicked != nil {
			blocks[i].Voxels, blocks[i].Err = nil, fmt.Errorf("cube %v, block %v: %w", c, blocks[i].At, panicked)
		}
		blocks[i].At = blocks[i].At.Add(lo)
		stale = stale || errors.Is(blocks[i].Err, syscall.ESTALE)
		if errors.Is(blocks[i].Err, vfs.ErrChanged) {
			m.outdated.Store(true) // the next open takes a new snapshot
		}
	}
	if stale {
		m.discard(h)
	}
	return stale
}
