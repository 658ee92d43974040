package cache

import (
	"context"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// Hold is blocks that stay in memory until its last user releases it. They are decoded in batches, in order, while
// the caller goes on. Its methods may be called by many goroutines.
type Hold struct {
	source  *Source
	entries []*entry // by the number of the block; nil if it was never written
	voxels  [][]byte // of the entries
	size    int      // of a batch
	batches []batch
	users   atomic.Int32 // callers, and the goroutines that load
	cancel  context.CancelFunc
}

// batch is blocks that are loaded together.
type batch struct {
	done chan struct{} // closed when entries and err are final
	err  error
}

// Hold begins to decode the blocks, size of them at a time, and returns a Hold that the caller must release. The memory should
// be reserved. The list of blocks must not change until they are decoded.
func (s *Source) Hold(blocks []volume.Vec, size int, keep Keep) (*Hold, error) {
	c := s.cache
	if !c.enter() {
		return nil, ErrClosed
	}
	defer c.running.Done()
	h := &Hold{source: s, size: size, entries: make([]*entry, len(blocks)), voxels: make([][]byte, len(blocks)),
		batches: make([]batch, (len(blocks)+size-1)/size)}
	for i := range h.batches {
		h.batches[i].done = make(chan struct{})
	}
	var ctx context.Context
	ctx, h.cancel = context.WithCancel(context.Background())
	var next atomic.Int32
	workers := min(s.workers(), len(h.batches))
	h.users.Store(int32(workers) + 1)
	for range workers {
		c.running.Go(func() {
			defer h.Release()
			for i := int(next.Add(1)) - 1; i < len(h.batches); i = int(next.Add(1)) - 1 {
				h.fill(ctx, i, blocks[i*size:min((i+1)*size, len(blocks))], keep)
			}
		})
	}
	return h, nil
}

// fill loads batch i.
func (h *Hold) fill(ctx context.Context, i int, blocks []volume.Vec, keep Keep) {
	b := &h.batches[i]
	defer close(b.done)
	if b.err = ctx.Err(); b.err != nil {
		return
	}
	r := requests.Get().(*request)
	defer r.put()
	r.source, r.ctx, r.keep, r.chunk, r.reserved = h.source, ctx, keep, len(blocks), true
	r.blocks, r.held = blocks, h.entries[i*h.size:]
	b.err = r.read()
	for n, e := range r.held[:len(blocks)] {
		if e != nil {
			h.voxels[i*h.size+n] = e.voxels
		}
	}
}

// Wait returns when blocks first to last are decoded, with an error if one of those that were loaded with them cannot be read, or with
// ctx.Err().
func (h *Hold) Wait(ctx context.Context, first, last int) error {
	for i := first / h.size; i < len(h.batches) && i*h.size <= last; i++ {
		select {
		case <-h.batches[i].done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := h.batches[i].err; err != nil {
			return err
		}
	}
	return nil
}

// Voxels returns the blocks, each as [Source.Read] shows it. Those that Wait has returned for without an error may be looked at
// until the caller releases the Hold.
func (h *Hold) Voxels() [][]byte { return h.voxels }

// Acquire adds a user. The caller makes sure that there is one.
func (h *Hold) Acquire() { h.users.Add(1) }

// Release takes a user off. The last one releases the blocks.
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

// Ready reports whether all blocks are decoded, or cannot be.
func (h *Hold) Ready() bool {
	for i := range h.batches {
		select {
		case <-h.batches[i].done:
		default:
			return false
		}
	}
	return true
}

// Busy reports whether anybody but the caller uses the Hold, or it is still being loaded.
func (h *Hold) Busy() bool { return h.users.Load() > 1 }

// Close gives up what is not loaded yet, and releases the caller's use. It does not wait.
func (h *Hold) Close() {
	h.cancel()
	h.Release()
}

// WaitAll is Wait for all blocks.
func (h *Hold) WaitAll(ctx context.Context) error { return h.Wait(ctx, 0, len(h.entries)-1) }
