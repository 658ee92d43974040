package check

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// maxMemory bounds the memory of blocks in flight, in bytes. A larger block is read alone.
const maxMemory = 256 << 20

// openCube is an open cube file. Several goroutines read its parts.
type openCube struct {
	cube
	Place
	file    volume.CubeFile
	grid    volume.Grid
	users   atomic.Int64 // parts that are not finished, and the sender of parts; the last closes the file
	stopped atomic.Bool  // the remaining parts are not read
}

// read opens and reads the cubes. These are two stages: opening may wait for a slow store, decoding for the cores.
func (c *checker) read(cubes <-chan cube) {
	parts := make(chan part)
	budget := semaphore.NewWeighted(maxMemory)
	var readers sync.WaitGroup
	readers.Go(func() {
		parallel.Drain(parts, c.Jobs, c.Depth, c.Late, func(p part) { c.readPart(p, budget) })
	})
	parallel.Drain(cubes, c.Jobs, c.Depth, c.Late, func(next cube) { c.open(next, parts) })
	close(parts)
	readers.Wait()
}

// open opens a cube and sends its parts.
func (c *checker) open(next cube, parts chan<- part) {
	f, err := next.open()
	if err != nil && next.gone != nil && next.gone() {
		c.Stats.Cubes.Add(1)
		return
	}
	if err != nil {
		c.report(Finding{Severity: Error, Place: next.place(nil), Cube: next.at, Err: err})
		c.Stats.Cubes.Add(1)
		return
	}
	o := &openCube{cube: next, Place: next.place(f.Info()), file: f, grid: f.Grid()}
	o.users.Store(1)
	defer c.release(o)
	for box := range partsOf(o.grid) {
		if o.stopped.Load() {
			return
		}
		o.users.Add(1)
		select {
		case parts <- part{o, box}:
		case <-c.ctx.Done():
			c.release(o)
			return
		}
	}
}

// release ends the use of a cube by a part or by the sender.
func (c *checker) release(o *openCube) {
	if o.users.Add(-1) == 0 {
		o.file.Close() // read-only: no data can be lost
		c.Stats.Cubes.Add(1)
	}
}

// readPart reads and decodes the blocks of a part. Its memory is that of the stored and of the decoded blocks.
func (c *checker) readPart(p part, budget *semaphore.Weighted) {
	defer c.release(p.openCube)
	blocks := p.blocks()
	weight := min(p.memory(len(blocks)), maxMemory)
	if budget.Acquire(c.ctx, weight) != nil {
		return // canceled
	}
	defer budget.Release(weight)
	if p.stopped.Load() {
		return
	}
	b := scratch.Blocks{Bytes: p.grid.BlockBytes(), N: len(blocks)}
	defer b.Free()
	p.file.Fill(c.ctx, blocks, func(volume.Vec) []byte { return b.Next() })
	for _, block := range blocks {
		c.record(p.openCube, block)
	}
}

// record counts a block and reports its error.
func (c *checker) record(o *openCube, b volume.Block) {
	switch {
	case b.Err == nil:
		c.Stats.Bytes.Add(int64(len(b.Voxels)))
	case errors.Is(b.Err, context.Canceled), errors.Is(b.Err, context.DeadlineExceeded):
		o.stopped.Store(true)
		return
	case errors.Is(b.Err, vfs.ErrChanged):
		if o.stopped.Swap(true) { // one finding is enough: the error concerns the whole cube
			return
		}
		fallthrough
	default:
		c.report(Finding{Severity: Error, Place: o.Place, Cube: o.at, Block: &b.At, Err: b.Err})
	}
	c.Stats.Blocks.Add(1)
}
