package cache

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// held is a hold of a schedule.
type held struct {
	*Hold
	s      *schedule
	n      int // of the array
	blocks []volume.Vec
	ctx    context.Context // done when the hold is closed
	cancel context.CancelFunc
}

func (s *schedule) hold(n int, blocks []volume.Vec, p step) *held {
	h, err := s.sources[n].Hold(blocks, int(p[4])%40+1, Keep(p[5])%3)
	if err != nil {
		s.check(n, context.Background(), err)
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &held{h, s, n, blocks, ctx, cancel}
}

// look waits for some blocks and looks at them.
func (h *held) look(p step) {
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
		if !h.s.arrays[h.n].right(h.blocks[i], h.Voxels()[i]) {
			h.s.t.Errorf("array %d, block %v of a hold: wrong bytes", h.n, h.blocks[i])
		}
	}
}

func (h *held) close() {
	if h != nil {
		h.cancel()
		h.Close()
	}
}
