package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw"
)

// writer writes one mag: the cubes that cover the box.
type writer struct {
	*layer
	factor volume.Factor
	dir    string     // of the mag
	box    volume.Box // in voxels of the mag
	// open returns cube c, without voxels outside of the box, and what has to be closed
	// once it is written.
	open func(c volume.Vec) (volume.Source, func() error, error)
}

// write writes all mags, each from the one before it.
func (l *layer) write(ctx context.Context) error {
	mags := make([]*writer, len(l.factors))
	for i, f := range l.factors {
		w := &writer{layer: l, factor: f, dir: filepath.Join(l.dir, f.String()), box: coarser(l.box, f)}
		w.open = w.openInput
		if i > 0 {
			w.open = w.reduced(mags[i-1])
		}
		mags[i] = w
		l.Stats.AllBytes.Add(w.bytes(w.box))
	}
	for _, w := range mags {
		if err := w.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// bytes returns the bytes of the voxels in a box.
func (w *writer) bytes(box volume.Box) int64 {
	size := box.Size()
	return int64(w.in.Grid.VoxelBytes()) * int64(size[0]) * int64(size[1]) * int64(size[2])
}

func (w *writer) write(ctx context.Context) error {
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return err
	}
	if err := wkw.WriteHeader(filepath.Join(w.dir, "header.wkw"), w.header()); err != nil {
		return err
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(w.Jobs)
	side := volume.Cube(w.Cube)
	cubes := volume.Box{Min: w.box.Min.Div(side), Max: w.box.Max.CeilDiv(side)}
	for c := range cubes.All() {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := w.writeCube(running, c); err != nil {
				return fmt.Errorf("mag %v, cube %v: %w", w.factor, c, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// grid returns the geometry of cube c.
func (w *writer) grid(c volume.Vec) volume.Grid {
	g := w.header().Grid()
	g.Origin = c.Mul(g.Size)
	return g
}

// writeCube writes the cube, unless it is there or would be zeros throughout.
func (w *writer) writeCube(ctx context.Context, c volume.Vec) error {
	g := w.grid(c)
	inside := w.bytes(volume.Box{Min: g.Origin, Max: g.Origin.Add(g.Size)}.Intersect(w.box))
	path := filepath.Join(w.dir, fmt.Sprintf("z%d/y%d/x%d.wkw", c[2], c[1], c[0]))
	switch _, err := os.Stat(path); {
	case err == nil:
		w.Stats.Kept.Add(1)
		w.Stats.DoneBytes.Add(inside)
		return w.findLargest(ctx, c)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	src, closeSource, err := w.open(c)
	if err != nil {
		return err
	}
	defer closeSource()
	empty, err := isEmpty(ctx, src)
	switch {
	case err != nil:
		return err
	case empty:
		w.Stats.Empty.Add(1)
		w.Stats.DoneBytes.Add(inside)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := wkw.WriteCube(ctx, path, w.Compression, watched{src, w}); err != nil {
		return err
	}
	w.Stats.Written.Add(1)
	return nil
}

// isEmpty reports whether a source has no block. Of a cube that has voxels it reads, as
// a rule, the first block alone.
func isEmpty(ctx context.Context, src volume.Source) (bool, error) {
	for b := range (volume.Box{Max: src.Grid().Blocks()}).All() {
		block, err := volume.ReadBlock(ctx, src, b)
		if err != nil || block != nil {
			return false, err
		}
	}
	return true, nil
}

// openInput is the cube as it is in the input.
func (w *writer) openInput(c volume.Vec) (volume.Source, func() error, error) {
	return inputCube{w, w.grid(c)}, func() error { return nil }, nil
}

// inputCube is a cube whose blocks are read from the input.
type inputCube struct {
	w    *writer
	grid volume.Grid
}

func (c inputCube) Grid() volume.Grid { return c.grid }

// Fill reads blocks one after the other.
func (c inputCube) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	for i := range blocks {
		b := &blocks[i]
		b.Voxels, b.Err = c.block(ctx, b.At, memory)
	}
}

// block reads the voxels of a block that are in the input; nil where all are 0.
func (c inputCube) block(ctx context.Context, at volume.Vec, memory func(volume.Vec) []byte) ([]byte, error) {
	lo := c.grid.Origin.Add(at.Mul(c.grid.Block))
	part := volume.Box{Min: lo, Max: lo.Add(c.grid.Block)}.Intersect(c.w.box)
	if part.Empty() {
		return nil, nil
	}
	block := memory(at)
	if part.Size() != c.grid.Block {
		clear(block)
	}
	from := volume.Box{Min: part.Min.Sub(c.w.box.Min), Max: part.Max.Sub(c.w.box.Min)}
	if err := c.w.in.readBox(ctx, from, block, c.grid.Block, part.Min.Sub(lo)); err != nil {
		return nil, err
	}
	return unlessZero(block), nil
}

// unlessZero returns nil for a block of zeros.
func unlessZero(block []byte) []byte {
	for _, b := range block {
		if b != 0 {
			return block
		}
	}
	return nil
}

// watched is a cube of which is known how far it was read, and the largest value.
type watched struct {
	volume.Source
	w *writer
}

// Fill reads blocks and notes that they were read.
func (s watched) Fill(ctx context.Context, blocks []volume.Block, memory func(volume.Vec) []byte) {
	s.Source.Fill(ctx, blocks, memory)
	g := s.Grid()
	for _, b := range blocks {
		lo := g.Origin.Add(b.At.Mul(g.Block))
		if part := (volume.Box{Min: lo, Max: lo.Add(g.Block)}).Intersect(s.w.box); !part.Empty() {
			s.w.Stats.DoneBytes.Add(s.w.bytes(part))
		}
		s.w.noteLargest(b.Voxels)
	}
}

// coarser returns a box of mag 1 in voxels of another mag: its begin rounded down and
// its end rounded up.
func coarser(b volume.Box, f volume.Factor) volume.Box {
	return volume.Box{Min: b.Min.Div(volume.Vec(f)), Max: b.Max.CeilDiv(volume.Vec(f))}
}
