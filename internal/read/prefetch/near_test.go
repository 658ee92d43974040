package prefetch

import (
	"testing"
	"testing/synctest"
)

// TestNear: while a disk cache answers for an object store, a reader decodes one slab at a time, and its window does
// not grow. When the source has to answer again, the next portion has two slabs. Each block is decoded once.
func TestNear(t *testing.T) {
	const never = 32
	// the first plane that is far, and the first one with memory for two slabs
	for _, test := range []struct{ far, thick int64 }{
		{0, 1}, {1, 8}, {8, 8}, {12, never}, {never, never}, // at plane 12, the slab of plane 16 is decoded already
	} {
		far := test.far
		inScene(t, 4*fitsOneReader, func(t *testing.T, s *scene) {
			s.longRead, s.late = 1<<20, true
			s.near.Store(far > 0)
			r := s.openAll(NoHint)
			defer r.Close()
			slab := newLayout(r.array.Array, &usual).memory(1)
			for z := range int64(32) {
				if z == far {
					s.near.Store(false)
				}
				s.read(r, z*scenePlane, scenePlane)
				want := 2 * slab
				if z >= test.thick {
					want *= 2
				}
				if z > 0 && (r.ledger.reserved < want || s.near.Load() && r.ledger.reserved > want) {
					t.Errorf("far from plane %d: %d bytes reserved in plane %d, want %d", far, r.ledger.reserved, z,
						want)
				}
			}
			s.expectState(r, sequential)
			synctest.Wait()
			if got, all := s.loads.Load(), int64(4*slabBlocks); got < all || got > all+2*int64(slabBlocks)/8 {
				t.Errorf("far from plane %d: %d loads of %d blocks", far, got, all)
			}
		})
	}
}

// TestNearDoesNotGrow: the window of a reader that is faster than its late source grows, unless a disk cache answers
// for it.
func TestNearDoesNotGrow(t *testing.T) {
	for _, near := range []bool{false, true} {
		inScene(t, 16*fitsOneReader, func(t *testing.T, s *scene) {
			s.late = true
			s.near.Store(near)
			r := s.openAll(HintSequential)
			defer r.Close()
			for z := range int64(32) { // it waits for each slab
				s.read(r, z*scenePlane, scenePlane/8)
			}
			if got := len(r.ledger.portions); (got > 2) == near {
				t.Errorf("near %v: a window of %d portions", near, got)
			}
		})
	}
}
