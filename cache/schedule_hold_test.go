package cache

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// scheduledHold is a hold of a schedule.
type scheduledHold struct {
	*Hold
	s      *schedule
	n      int // index of the array
	blocks []volume.Vec
	ctx    context.Context // done when the hold is closed
	cancel context.CancelFunc
}

func (s *schedule) hold(n int, blocks []volume.Vec, p step) *scheduledHold {
	h, err := s.sources[n].Hold(blocks, HoldOptions{BatchSize: int(p[4])%40 + 1, Keep: Keep(p[5]) % 3})
	if err != nil {
		s.check(n, context.Background(), err)
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &scheduledHold{h, s, n, blocks, ctx, cancel}
}

// checkVoxels waits for some blocks and checks them.
func (h *scheduledHold) checkVoxels(p step) {
	if h == nil || len(h.blocks) == 0 {
		return
	}
	first := int(p[2]) % len(h.blocks)
	last := first + int(p[3])%(len(h.blocks)-first)
	ctx, cancel := h.s.context(p[4])
	defer cancel()
	if err := h.Wait(ctx, first, last); err != nil {
		if h.ctx.Err() != nil {
			ctx = h.ctx
		}
		h.s.check(h.n, ctx, err)
		return
	}
	for i := first; i <= last; i++ {
		if !h.s.arrays[h.n].matches(h.blocks[i], h.Voxels()[i]) {
			h.s.t.Errorf("array %d, block %v of a hold: wrong bytes", h.n, h.blocks[i])
		}
	}
}

func (h *scheduledHold) close() {
	if h != nil {
		h.cancel()
		h.Close()
	}
}
