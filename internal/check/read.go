package check

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// memory bounds what is held by blocks that are being read: 256 MiB, or one block
// where that is larger.
const memory = 256 << 20

// opened is a cube that is being read, in parts.
type opened struct {
	cube
	Place
	file  volume.CubeFile
	grid  volume.Grid
	left  atomic.Int64 // parts that are not done, and one for the sender
	ended atomic.Bool  // there is no use in reading on
}

// read opens the cubes and reads them, in two stages: opening may wait for a slow
// store, decoding for the cores. It returns when all is done.
func (c *checking) read(cubes <-chan cube) {
	parts := make(chan part)
	room := semaphore.NewWeighted(memory)
	var readers sync.WaitGroup
	readers.Go(func() {
		parallel.Drain(parts, c.Jobs, c.Depth, c.Late, func(p part) { c.readPart(p, room) })
	})
	parallel.Drain(cubes, c.Jobs, c.Depth, c.Late, func(next cube) { c.open(next, parts) })
	close(parts)
	readers.Wait()
}

// open opens a cube and sends its parts.
func (c *checking) open(next cube, parts chan<- part) {
	f, err := next.open()
	if err != nil {
		c.report(Finding{Severity: Error, Place: next.place(nil), Cube: next.at, Err: err})
		c.Stats.Cubes.Add(1)
		return
	}
	o := &opened{cube: next, Place: next.place(f.Info()), file: f, grid: f.Grid()}
	o.left.Store(1)
	defer c.done(o)
	for box := range partsOf(o.grid) {
		if o.ended.Load() {
			return
		}
		o.left.Add(1)
		select {
		case parts <- part{o, box}:
		case <-c.ctx.Done():
			c.done(o)
			return
		}
	}
}

// done is called once for each part, and once for the sender.
func (c *checking) done(o *opened) {
	if o.left.Add(-1) == 0 {
		o.file.Close() // read-only: nothing can be lost
		c.Stats.Cubes.Add(1)
	}
}

// readPart reads and decodes the blocks of a part, which it holds as they are stored and decoded.
func (c *checking) readPart(p part, room *semaphore.Weighted) {
	defer c.done(p.opened)
	blocks := p.blocks()
	weight := min(2*int64(p.grid.BlockBytes())*int64(len(blocks)), memory)
	if room.Acquire(c.ctx, weight) != nil {
		return // ended by the context
	}
	defer room.Release(weight)
	if p.ended.Load() {
		return
	}
	into := &buffer{block: p.grid.BlockBytes(), blocks: len(blocks)}
	p.file.Fill(c.ctx, blocks, into.next)
	into.free()
	for _, b := range blocks {
		c.record(p.opened, b)
	}
}

// record takes down how a block was read.
func (c *checking) record(o *opened, b volume.Block) {
	switch {
	case b.Err == nil:
		c.Stats.Bytes.Add(int64(len(b.Voxels)))
	case errors.Is(b.Err, context.Canceled), errors.Is(b.Err, context.DeadlineExceeded):
		o.ended.Store(true)
		return
	case errors.Is(b.Err, vfs.ErrChanged):
		if o.ended.Swap(true) { // once a cube: all of it is concerned
			return
		}
		fallthrough
	default:
		c.report(Finding{Severity: Error, Place: o.Place, Cube: o.at, Block: &b.At, Err: b.Err})
	}
	c.Stats.Blocks.Add(1)
}
