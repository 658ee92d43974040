package cache

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// Scan implements [volume.Scanner]: blocks that are kept are copied, the others are read
// past the cache, which neither keeps nor forgets a block for it. It takes one of the
// places for loads, whatever the box, so the box should be small.
func (s *source) Scan(ctx context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	src, ok := s.src.(volume.Scanner)
	if !ok {
		return s.scanKept(ctx, blocks, memory)
	}
	rest := s.copyKept(blocks, memory)
	if len(rest) == 0 {
		return nil
	}
	release, err := s.cache.loader.place(ctx, s.bytes)
	if err != nil {
		return err
	}
	defer release()
	loads := 0
	defer func() { s.cache.loader.count(loads, loads*s.bytes) }()
	for _, box := range rest {
		err := src.Scan(ctx, box, func(b volume.Vec) []byte { loads++; return memory(b) })
		if err != nil {
			loads = max(loads-1, 0) // one of the last, most often
			s.cache.loader.countFailure()
			return err
		}
	}
	return nil
}

// scanKept is Scan for sources that cannot scan: their blocks go through the cache.
func (s *source) scanKept(ctx context.Context, blocks volume.Box, memory func(b volume.Vec) []byte) error {
	for b := range blocks.All() {
		block, err := s.Block(ctx, b)
		if err != nil {
			return err
		}
		if block != nil {
			copy(memory(b), block)
		}
	}
	return nil
}

// copyKept copies the blocks that are kept and returns boxes of those that are not: most
// often it is all or none of them.
func (s *source) copyKept(blocks volume.Box, memory func(b volume.Vec) []byte) (rest []volume.Box) {
	kept := false
	for b := range blocks.All() {
		k := key{s.version, uint64(b.Index(s.blocks))}
		e := s.cache.lookup(s.cache.hash(k), k)
		if kept = kept || e != nil; e == nil {
			rest = append(rest, volume.Box{Min: b, Max: b.Add(volume.Cube(1))})
		} else if e.data != nil {
			copy(memory(b), e.data)
		}
	}
	if !kept {
		return []volume.Box{blocks}
	}
	return rest
}

// Reserve implements [volume.Keeper]. Half of the budget can be reserved, so that there
// is always room for blocks.
func (s *source) Reserve(n int64) bool {
	w := &s.cache.window
	return w.reserve(n, w.capacity*5/8) // the window has 4/5 of the budget
}

// Release implements [volume.Keeper].
func (s *source) Release(n int64) { s.cache.window.release(n) }
