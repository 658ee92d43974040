package check

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	// memory bounds what is held by blocks that are being read: 256 MiB, or one block
	// where that is larger.
	memory = 256 << 20
	// partBytes is how much of a cube one goroutine reads before it takes the next part,
	// at least a block.
	partBytes = 1 << 20
)

// opened is a cube that is being read, in parts.
type opened struct {
	cube
	file  volume.CubeFile
	grid  volume.Grid
	left  atomic.Int64 // parts that are not done, and one for the sender
	ended atomic.Bool  // there is no use in reading on
}

// part is blocks of a cube, in Fortran order.
type part struct {
	*opened
	first, end int
}

// read opens the cubes and reads them, in two stages: opening may wait for a slow
// store, decoding for the cores. It returns when all is done.
func (c *checking) read(cubes <-chan cube) {
	parts := make(chan part)
	room := semaphore.NewWeighted(memory)
	var openers, readers sync.WaitGroup
	for range c.Jobs {
		openers.Go(func() {
			for next := range cubes {
				c.open(next, parts)
			}
		})
		readers.Go(func() {
			for p := range parts {
				c.readPart(p, room)
			}
		})
	}
	openers.Wait()
	close(parts)
	readers.Wait()
}

// open opens a cube and sends its parts.
func (c *checking) open(next cube, parts chan<- part) {
	f, err := next.open()
	if err != nil {
		c.report(Finding{Severity: Error, Place: next.Place, Cube: next.at, Err: err})
		c.Stats.Cubes.Add(1)
		return
	}
	o := &opened{cube: next, file: f, grid: f.Grid()}
	o.left.Store(1)
	defer c.done(o)
	n := o.grid.Blocks()
	blocks, step := n[0]*n[1]*n[2], max(1, partBytes/o.grid.BlockBytes())
	for first := 0; first < blocks && !o.ended.Load(); first += step {
		o.left.Add(1)
		select {
		case parts <- part{o, first, min(first+step, blocks)}:
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

// readPart reads blocks. While it does, it holds one of them, as it is stored and decoded.
func (c *checking) readPart(p part, room *semaphore.Weighted) {
	defer c.done(p.opened)
	weight := min(2*int64(p.grid.BlockBytes()), memory)
	if room.Acquire(c.ctx, weight) != nil {
		return // ended by the context
	}
	defer room.Release(weight)
	n := p.grid.Blocks()
	var voxels []byte // of one block after the other
	same := func(volume.Vec) []byte {
		if voxels == nil { // only now is the size of a block known to be plausible
			voxels = make([]byte, p.grid.BlockBytes())
		}
		return voxels
	}
	for i := p.first; i < p.end && !p.ended.Load(); i++ {
		c.readBlock(p.opened, volume.Vec{i % n[0], i / n[0] % n[1], i / n[0] / n[1]}, same)
	}
}

func (c *checking) readBlock(o *opened, b volume.Vec, memory func(volume.Vec) []byte) {
	block := [1]volume.Block{{At: b}}
	o.file.Fill(c.ctx, block[:], memory)
	err := block[0].Err
	switch {
	case err == nil:
		c.Stats.Bytes.Add(int64(len(block[0].Voxels)))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		o.ended.Store(true)
		return
	case errors.Is(err, vfs.ErrChanged):
		if o.ended.Swap(true) { // once a cube: all of it is concerned
			return
		}
		fallthrough
	default:
		c.report(Finding{Severity: Error, Place: o.Place, Cube: o.at, Block: &b, Err: err})
	}
	c.Stats.Blocks.Add(1)
}
