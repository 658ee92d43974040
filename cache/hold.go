package cache

import (
	"context"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// Hold is a list of blocks that stay in memory until the last user of the Hold releases it. They are loaded in the
// background, in batches, in the order of the list. Many goroutines may call its methods.
type Hold struct {
	source  *Source
	entries []*entry // by index in the list; nil if the block was never written
	voxels  [][]byte // of the entries
	batches []batch
	batchOf []int32      // of the blocks, by index in the list
	users   atomic.Int32 // users, and goroutines that load
	ctx     context.Context
	cancel  context.CancelFunc

	blocks []volume.Vec
	keep   Keep
	next   atomic.Int32 // index of the first batch that was not started
	spare  atomic.Int32 // goroutines that start as soon as a user waits
}

// batch is a group of blocks that are loaded together.
type batch struct {
	blocks []int32       // by index in the list
	done   chan struct{} // closed when the entries and err are final
	err    error
}

// HoldOptions say how the blocks of a [Hold] are loaded.
type HoldOptions struct {
	BatchSize int // blocks that are loaded at a time, in the order of the list
	// if not nil, instead: the number of the batch of each block. Batches are loaded in the order of their numbers,
	// from 0 on
	BatchOf []int32
	Keep    Keep
	Ahead   bool // no user waits yet: if the source answers at once, one core is left to others until a user waits
}

// Hold starts to load the blocks, and returns a Hold with one user, the caller. The caller should reserve the memory
// before, and must not change the list until all blocks are loaded. The only error is [ErrClosed].
func (s *Source) Hold(blocks []volume.Vec, o HoldOptions) (*Hold, error) {
	c := s.cache
	if !c.tryStart() {
		return nil, ErrClosed
	}
	defer c.running.Done()
	batchOf := o.BatchOf
	if batchOf == nil {
		batchOf = inOrder(len(blocks), max(o.BatchSize, 1))
	}
	h := &Hold{source: s, blocks: blocks, keep: o.Keep, batchOf: batchOf, entries: make([]*entry, len(blocks)),
		voxels: make([][]byte, len(blocks))}
	for i, n := range batchOf {
		for int(n) >= len(h.batches) {
			h.batches = append(h.batches, batch{done: make(chan struct{})})
		}
		h.batches[n].blocks = append(h.batches[n].blocks, int32(i))
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.users.Store(1)
	workers := min(s.workers(), len(h.batches))
	if o.Ahead && s.Speed().AtOnce && workers == cores && workers > 1 {
		h.spare.Store(1)
		workers--
	}
	h.start(workers)
	return h, nil
}

// inOrder returns the numbers of the batches of n blocks, batchSize blocks at a time.
func inOrder(n, batchSize int) []int32 {
	batchOf := make([]int32, n)
	for i := range batchOf {
		batchOf[i] = int32(i / batchSize)
	}
	return batchOf
}

// start starts goroutines that load batches. It is called while the cache is open.
func (h *Hold) start(workers int) {
	h.users.Add(int32(workers))
	for range workers {
		h.source.cache.running.Go(guard.Func("cache.hold", func() {
			defer h.Release()
			for i := int(h.next.Add(1)) - 1; i < len(h.batches); i = int(h.next.Add(1)) - 1 {
				h.load(&h.batches[i])
			}
		}))
	}
}

// startSpare starts the goroutine that a Hold ahead of its users has left out.
func (h *Hold) startSpare() {
	if h.spare.Load() == 0 || h.spare.Swap(0) == 0 || !h.source.cache.tryStart() {
		return
	}
	defer h.source.cache.running.Done()
	h.start(1)
}

// load loads a batch. A panic becomes the error of the batch.
func (h *Hold) load(b *batch) {
	defer close(b.done)
	b.err = errGoexit
	b.err = guard.Do("cache.hold", func() error { return h.read(b) })
}

// read reads the blocks of a batch.
func (h *Hold) read(b *batch) error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	wanted, held := make([]volume.Vec, len(b.blocks)), make([]*entry, len(b.blocks))
	for i, n := range b.blocks {
		wanted[i] = h.blocks[n]
	}
	defer func() { // also of a batch that fails: Release releases them
		for i, n := range b.blocks {
			if e := held[i]; e != nil {
				h.entries[n], h.voxels[n] = e, e.voxels
			}
		}
	}()
	r := h.source.newRequest(h.ctx, wanted, h.keep, len(wanted))
	defer r.recycle()
	r.held, r.reserved = held, true
	guard.Pass("cache.hold")
	return r.read()
}

// Wait waits until blocks first to last of the list are loaded, as far as there are such blocks. It returns an error if
// a block of their batches cannot be read, or ctx.Err() if ctx is done.
func (h *Hold) Wait(ctx context.Context, first, last int) error {
	waited := int32(-1)
	for i := max(first, 0); i <= min(last, len(h.batchOf)-1); i++ {
		n := h.batchOf[i]
		if n == waited {
			continue
		}
		waited = n
		select {
		case <-h.batches[n].done:
		default:
			h.startSpare()
			select {
			case <-h.batches[n].done:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := h.batches[n].err; err != nil {
			return err
		}
	}
	return nil
}

// WaitAll is Wait for all blocks.
func (h *Hold) WaitAll(ctx context.Context) error { return h.Wait(ctx, 0, len(h.entries)-1) }

// Voxels returns the voxels of all blocks, in the order of the list. A block that was never written is nil. The
// caller may only read blocks for which Wait returned no error, and only until it releases the Hold.
func (h *Hold) Voxels() [][]byte { return h.voxels }

// Acquire adds a user. The Hold must have a user at that time.
func (h *Hold) Acquire() { h.users.Add(1) }

// Release removes a user. The last one releases the blocks.
func (h *Hold) Release() {
	if h.users.Add(-1) > 0 {
		return
	}
	for _, e := range h.entries {
		if e != nil {
			h.source.cache.release(e)
		}
	}
	h.entries = nil
}

// InUse reports whether the Hold has users besides the caller, or is still being loaded.
func (h *Hold) InUse() bool { return h.users.Load() > 1 }

// Close cancels the batches that are not loaded yet, and releases the Hold for the caller. It does not wait.
func (h *Hold) Close() {
	h.cancel()
	h.Release()
}
