package prefetch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/volume"
)

// TestCloseWhileDecoding checks that Close does not wait for a source that hangs, and that the memory is free when
// the source answers.
func TestCloseWhileDecoding(t *testing.T) {
	for _, hint := range []Hint{NoHint, HintSequential, HintOnce} {
		inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
			r := s.open(volume.Box{Max: volume.Vec{512, 512, 32}}, hint)
			s.gate = make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := r.ReadAt(ctx, make([]byte, 256*k), 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("read from a source that hangs: %v", err)
			}
			start := time.Now()
			r.Close()
			if time.Since(start) > 0 {
				t.Error("Close waited for the source")
			}
			close(s.gate)
		})
	}
}

// TestCacheClosed closes the cache under a reader. The reader still reads from portions. Other reads return the error
// of the cache.
func TestCacheClosed(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.openAll(HintSequential)
		defer r.Close()
		s.read(r, 0, 3*scenePlane)
		synctest.Wait()
		s.cache.Close()
		s.read(r, 3*scenePlane, 5*scenePlane)
		s.read(r, 8*scenePlane, 8*scenePlane) // the next slab
		if _, err := r.ReadAt(t.Context(), make([]byte, 4*k), 16*scenePlane); !errors.Is(err, cache.ErrClosed) {
			t.Errorf("read of a block that is not in memory: %v", err)
		}
		s.budget = 0 // a closed cache has no budget
	})
}

// TestDamagedPortion checks that only reads of a damaged block fail, with the error of the block.
func TestDamagedPortion(t *testing.T) {
	for _, budget := range []int64{fitsTwoReaders, fitsPartialSlabs} {
		for _, hint := range []Hint{NoHint, HintSequential, HintOnce} {
			inScene(t, budget, func(t *testing.T, s *scene) {
				s.damaged = volume.Vec{3, 2, 1}
				r := s.openAll(hint)
				defer r.Close()
				for off := int64(0); off < 32*scenePlane; off += 32 * k { // a row of blocks
					y, z := r.array.RowAt(off)
					bad := y/64 == 2 && z/8 == 1
					if _, err := r.ReadAt(t.Context(), make([]byte, 32*k), off); errors.Is(err, errDamaged) != bad ||
						!bad && err != nil {
						t.Fatalf("rows %d of plane %d: %v", y, z, err)
					}
				}
			})
		}
	}
}
