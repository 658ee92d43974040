package cache

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// ReadTogether is [Source.Read] in several goroutines, one of which is that of the caller. Each of them loads batchSize
// blocks at a time and uses them while they are in the cache of its core. So several goroutines call use at once, for
// different blocks. No call is in progress when ReadTogether has returned.
func (s *Source) ReadTogether(ctx context.Context, blocks []volume.Vec, batchSize int, keep Keep,
	use func(at volume.Vec, voxels []byte)) error {
	t := together{source: s, ctx: ctx, blocks: blocks, batchSize: batchSize, keep: keep, use: use}
	var others sync.WaitGroup
	for range min(s.workers(), (len(blocks)+batchSize-1)/batchSize) - 1 {
		others.Go(guard.FuncElse("cache.together", t.work, t.fail))
	}
	// the others use memory of the caller: a panic has to wait for them
	guard.FuncElse("cache.together", t.work, t.fail)()
	others.Wait()
	if err := t.err.Load(); err != nil {
		return *err
	}
	if t.read.Load() < int64(len(blocks)) { // a goroutine ended without a result
		return fmt.Errorf("some of %d blocks: %w", len(blocks), errGoexit)
	}
	return nil
}

// together is the state of one ReadTogether.
type together struct {
	source    *Source
	ctx       context.Context
	blocks    []volume.Vec
	batchSize int
	keep      Keep
	use       func(at volume.Vec, voxels []byte)

	started atomic.Int64 // blocks of batches that were started; more at the end
	read    atomic.Int64 // blocks that were read
	err     atomic.Pointer[error]
}

// work reads batches until all were started or one has failed.
func (t *together) work() {
	for n := int64(t.batchSize); t.err.Load() == nil; {
		first := t.started.Add(n) - n
		if first >= int64(len(t.blocks)) {
			return
		}
		batch := t.blocks[first:min(first+n, int64(len(t.blocks)))]
		if err := t.readBatch(batch); err != nil {
			t.fail(err)
			return
		}
		t.read.Add(int64(len(batch)))
	}
}

// fail ends the work with an error, unless there is one.
func (t *together) fail(err error) { t.err.CompareAndSwap(nil, &err) }

func (t *together) readBatch(blocks []volume.Vec) error {
	r := t.source.newRequest(t.ctx, blocks, t.keep, len(blocks))
	defer r.recycle()
	r.use = t.use
	guard.Pass("cache.together")
	return r.read()
}
