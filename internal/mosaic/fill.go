package mosaic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// Key implements [volume.Keyed]: blocks have the version of their cube in the snapshot. It takes no lock.
func (m *Mosaic) Key(at volume.Vec) (volume.Key, bool) {
	c := at.Div(m.blocks)
	v, decided := m.shown.version(c)
	if !decided || v == absent {
		return volume.Key{}, decided
	}
	return volume.Key{Version: v, Index: uint64(at.Sub(c.Mul(m.blocks)).Index(m.blocks))}, true
}

// Resolve implements [volume.Keyed]: it opens the cube of the block.
func (m *Mosaic) Resolve(ctx context.Context, at volume.Vec) error {
	t, err := m.acquire(ctx, at.Div(m.blocks))
	if t != nil {
		m.release(t)
	}
	return err
}

// Late implements vfs.Later.
func (m *Mosaic) Late() bool { return vfs.IsLate(m.mag) }

// Fill implements [volume.Source]. It reads one cube after the other, or many at once if the source answers late.
func (m *Mosaic) Fill(ctx context.Context, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	cube := func(b volume.Block) volume.Vec { return b.At.Div(m.blocks) }
	if !slices.IsSortedFunc(blocks, func(a, b volume.Block) int { return compare(cube(a), cube(b)) }) {
		slices.SortStableFunc(blocks, func(a, b volume.Block) int { return compare(cube(a), cube(b)) })
	}
	if !m.Late() {
		for len(blocks) > 0 {
			n := m.ofOneCube(blocks)
			m.fillCube(ctx, cube(blocks[0]), blocks[:n], memory)
			blocks = blocks[n:]
		}
		return
	}
	var cubes [][]volume.Block
	for len(blocks) > 0 {
		n := m.ofOneCube(blocks)
		cubes = append(cubes, blocks[:n])
		blocks = blocks[n:]
	}
	for range parallel.Each(cubes, func(b []volume.Block) struct{} {
		m.fillCube(ctx, cube(b[0]), b, memory)
		return struct{}{}
	}) {
	}
}

// ofOneCube returns how many of the first blocks are of the same cube.
func (m *Mosaic) ofOneCube(blocks []volume.Block) int {
	c := blocks[0].At.Div(m.blocks)
	n := 1
	for n < len(blocks) && blocks[n].At.Div(m.blocks) == c {
		n++
	}
	return n
}

// compare orders positions, z slowest.
func compare(a, b volume.Vec) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// fillCube decodes blocks of one cube. If a file server has forgotten it, it is opened once
// more: what it holds is still of the version that is shown.
func (m *Mosaic) fillCube(ctx context.Context, c volume.Vec, blocks []volume.Block, memory func(at volume.Vec) []byte) {
	if !m.readCube(ctx, c, blocks, memory) {
		return
	}
	var again []volume.Block
	for _, b := range blocks {
		if errors.Is(b.Err, syscall.ESTALE) {
			again = append(again, volume.Block{At: b.At})
		}
	}
	m.readCube(ctx, c, again, memory)
	for _, read := range again {
		blocks[slices.IndexFunc(blocks, func(b volume.Block) bool { return b.At == read.At })] = read
	}
}

// readCube decodes blocks of one cube, and reports whether its file handle is stale.
func (m *Mosaic) readCube(ctx context.Context, c volume.Vec, blocks []volume.Block, memory func(at volume.Vec) []byte) (stale bool) {
	t, err := m.acquire(ctx, c)
	if t == nil {
		for i := range blocks {
			blocks[i].Voxels, blocks[i].Err = nil, err
		}
		return errors.Is(err, syscall.ESTALE)
	}
	defer m.release(t)
	lo := c.Mul(m.blocks)
	for i := range blocks {
		blocks[i].At = blocks[i].At.Sub(lo)
	}
	t.file.Fill(ctx, blocks, func(at volume.Vec) []byte { return memory(at.Add(lo)) })
	for i := range blocks {
		blocks[i].At = blocks[i].At.Add(lo)
		stale = stale || errors.Is(blocks[i].Err, syscall.ESTALE)
		if errors.Is(blocks[i].Err, vfs.ErrChanged) {
			m.moved.Store(true) // who opens a file next sees what is now
		}
	}
	if stale {
		m.forget(t)
	}
	return stale
}
