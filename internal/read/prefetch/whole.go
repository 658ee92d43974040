package prefetch

import (
	"context"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/volume"
)

// readsWhole reports whether a read of n bytes has all of a small array that is read once. It needs no portion.
func (r *Reader) readsWhole(n int) bool {
	return r.hint == HintOnce && int64(n) == r.array.Size() && r.isSmall()
}

// readWhole reads all of the array. The goroutine that decodes a block copies its rows. The block is in the cache of its core then, and
// its memory is used for the next block.
func (r *Reader) readWhole(ctx context.Context, p []byte) error {
	size := batchSize(r.array.Blocks().Size(), r.leastBlocks(r.source))
	return r.array.Fill(p, 0, func(blocks []volume.Vec, copyBlock func(at volume.Vec, voxels []byte)) error {
		return r.source.ReadTogether(ctx, blocks, size, cache.IfSeen, copyBlock)
	})
}
