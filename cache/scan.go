package cache

import (
	"context"

	"github.com/wkwfs/wkwfs/volume"
)

// Scan implements [volume.Scanner]: blocks that are kept are shown as they are, the others
// are read past the cache, which neither keeps nor forgets a block for it. It takes one
// of the places for loads, whatever the box, so the box should be small.
func (s *source) Scan(ctx context.Context, blocks volume.Box, use func(b volume.Vec, block []byte)) error {
	src, ok := s.src.(volume.Scanner)
	if !ok {
		return s.scanKept(ctx, blocks, use)
	}
	rest := s.showKept(blocks, use)
	if len(rest) == 0 {
		return nil
	}
	release, err := s.cache.loader.place(ctx, s.bytes)
	if err != nil {
		return err
	}
	defer release()
	count := func(b volume.Vec, block []byte) {
		s.cache.loader.loads.Add(1)
		s.cache.loader.bytes.Add(uint64(len(block)))
		use(b, block)
	}
	for _, box := range rest {
		if err := src.Scan(ctx, box, count); err != nil {
			s.cache.loader.loads.Add(1) // of the block that failed
			s.cache.loader.failures.Add(1)
			return err
		}
	}
	return nil
}

// scanKept is Scan for sources that cannot scan: their blocks go through the cache.
func (s *source) scanKept(ctx context.Context, blocks volume.Box, use func(b volume.Vec, block []byte)) error {
	for b := range blocks.All() {
		block, err := s.Block(ctx, b)
		if err != nil {
			return err
		}
		use(b, block)
	}
	return nil
}

// showKept shows the blocks that are kept and returns boxes of those that are not: most
// often it is all or none of them.
func (s *source) showKept(blocks volume.Box, use func(b volume.Vec, block []byte)) (rest []volume.Box) {
	kept := 0
	for b := range blocks.All() {
		k := key{s.version, uint64(b.Index(s.blocks))}
		if e := s.cache.lookup(s.cache.hash(k), k); e != nil {
			use(b, e.data)
			kept++
		} else {
			rest = append(rest, volume.Box{Min: b, Max: b.Add(volume.Cube(1))})
		}
	}
	if kept == 0 {
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
