package view

import (
	"context"
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// ahead loads blocks ahead of a reader that goes through a flat file from one end
// to the other, so that all cores decode while the reader copies. It keeps about a
// slab in front of the reader, and does nothing unless the source keeps blocks and
// has room for both the slab being read and what lies ahead: otherwise it would
// push out what is still needed.
//
// The goroutine that it starts is waited for in close.
type ahead struct {
	flat   *Flat
	blocks volume.Box // that the file is made of
	slab   int        // blocks that share one block-z
	lead   int        // how many blocks to be in front; 0: never

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu      sync.Mutex
	expect  int64 // where a sequential reader would go on
	streak  int   // reads in a row that did
	next    int   // first block, in Fortran order, that was not loaded ahead
	target  int   // load up to here
	running bool
}

const (
	minLead   = 8 << 20 // bytes to be in front at least, where slabs are small
	minStreak = 3       // reads in a row that make a stream
	slack     = 4 << 20 // bytes out of order that the kernel's readahead may cause
)

func newAhead(f *Flat) *ahead {
	a := &ahead{flat: f}
	keeper, ok := f.src.(volume.Keeper)
	if !ok {
		return a
	}
	a.blocks = volume.Box{Min: f.box.Min.Div(f.grid.Block), Max: f.box.Max.CeilDiv(f.grid.Block)}
	n := a.blocks.Size()
	a.slab = n[0] * n[1]
	block := int64(f.grid.BlockBytes())
	lead := max(int64(a.slab), minLead/block)
	if (int64(a.slab)+lead)*block+slack <= keeper.Room() {
		a.lead = int(lead)
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// note tells that the range is being read.
func (a *ahead) note(off, n int64) {
	if a.lead == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch d := off - a.expect; {
	case d < -slack || d > slack:
		a.streak, a.next = 0, 0
		a.expect = off + n
	default:
		a.streak++
		a.expect = max(a.expect, off+n)
	}
	if a.streak < minStreak {
		return
	}
	at := a.position(a.expect)
	a.next = max(a.next, at)
	a.target = min(at+a.lead, a.slab*a.blocks.Size()[2])
	if a.target > a.next && !a.running {
		a.running = true
		a.group.Go(a.run)
	}
}

// position returns how many blocks a reader that has come to off has used up: all of
// the slabs behind it, and of the slab that it is in as large a part as it has read.
func (a *ahead) position(off int64) int {
	f := a.flat
	z := int(off/f.plane) + f.box.Min[2]
	depth := f.grid.Block[2]
	inSlab := int64(z%depth)*f.plane + off%f.plane
	return (z/depth-a.blocks.Min[2])*a.slab + int(float64(inSlab)/float64(int64(depth)*f.plane)*float64(a.slab))
}

// run loads until the target is reached.
func (a *ahead) run() {
	for {
		from, to := a.take()
		if from == to {
			return
		}
		parallel(to-from, func(i int) error {
			// An error will be met again, and reported, by whoever reads the block.
			_, _ = a.flat.src.Block(a.ctx, a.block(from+i))
			return a.ctx.Err()
		})
	}
}

// take returns the next few blocks to load; none when there is nothing left to do.
func (a *ahead) take() (from, to int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	from = a.next
	to = min(from+64, a.target)
	if to <= from || a.ctx.Err() != nil {
		a.running = false
		return from, from
	}
	a.next = to
	return from, to
}

// block returns the position of block i, counted in Fortran order, in the source.
func (a *ahead) block(i int) volume.Vec {
	n := a.blocks.Size()
	return a.blocks.Min.Add(volume.Vec{i % n[0], i / n[0] % n[1], i / a.slab})
}

// close gives up what is under way and waits for it.
func (a *ahead) close() {
	if a.cancel != nil {
		a.cancel()
	}
	a.group.Wait()
}
