package prefetch

import (
	"context"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/volume"
)

// readsWhole reports whether a read of n bytes is the first one of a small array that is read once, and has all of it. It needs no
// portion. An array of a source that answers late gets one, because that loads more blocks at a time.
func (r *Reader) readsWhole(n int) bool {
	if r.hint != HintOnce || int64(n) < r.array.Size() || !r.isSmall() || r.source.Speed().Late {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.whole && r.state == random
	r.whole = true
	return first
}

// readWhole reads all of the array. The goroutine that decodes a block copies its rows. The block is in the cache of its core then, and
// its memory is used for the next block.
func (r *Reader) readWhole(ctx context.Context, p []byte) error {
	size := batchSize(r.array.Blocks().Size(), r.leastBatch/r.array.Grid().BlockBytes())
	return r.array.Fill(p, 0, func(blocks []volume.Vec, copyBlock func(at volume.Vec, voxels []byte)) error {
		return r.source.ReadTogether(ctx, blocks, size, cache.IfSeen, copyBlock)
	})
}
