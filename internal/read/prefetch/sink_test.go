package prefetch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// TestSinkRefuses has a sink that refuses everything. Portions of whole slabs are useful without a sink. Portions of
// parts of slabs are not used any more.
func TestSinkRefuses(t *testing.T) {
	for budget, want := range map[int64]int{fitsTwoReaders: 4 * slabBlocks, fitsPartialSlabs: 32 * slabBlocks} {
		inScene(t, budget, func(t *testing.T, s *scene) {
			r := s.openAll(NoHint)
			r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Ahead: usual.kernelReadahead,
				Write: func([]byte, int64) bool { return false }})
			s.read(r, 0, 32*scenePlane)
			synctest.Wait()
			if got := int(s.loads.Load()); got < 4*slabBlocks || got > want {
				t.Errorf("%d blocks loaded, expected %d to %d", got, 4*slabBlocks, want)
			}
			s.expectState(r, map[int64]state{fitsTwoReaders: sequential, fitsPartialSlabs: random}[budget])
			r.Close()
		})
	}
}

// TestReadDoesNotWaitForSink checks that a read does not wait long for a sink that waits for this read.
func TestReadDoesNotWaitForSink(t *testing.T) {
	inScene(t, fitsPartialSlabs, func(t *testing.T, s *scene) {
		r := s.openAll(NoHint)
		stuck := make(chan struct{})
		r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Ahead: usual.kernelReadahead,
			Write: func([]byte, int64) bool { <-stuck; return true }})
		s.read(r, 0, scenePlane)
		s.expectState(r, sequential)
		start := time.Now()
		for at := 8 * scenePlane; at < 9*scenePlane; at += 64 * k {
			s.read(r, at, 64*k)
		}
		if waited := time.Since(start); waited < maxPushWait || waited > 4*maxPushWait {
			t.Errorf("a plane took %v, expected each of four reads to wait for up to %v", waited, maxPushWait)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.ReadAt(ctx, make([]byte, 64*k), 16*scenePlane); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled read: %v", err)
		}
		close(stuck)
		r.Close()
	})
}

// TestCloseWhilePushing checks that Close waits for the writes to the sink that are in progress, and that no other
// writes follow.
func TestCloseWhilePushing(t *testing.T) {
	for _, budget := range []int64{fitsTwoReaders, fitsPartialSlabs} {
		inScene(t, budget, func(t *testing.T, s *scene) {
			r := s.openAll(NoHint)
			var mu sync.Mutex
			running, writes := 0, 0
			r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Write: func([]byte, int64) bool {
				mu.Lock()
				running++
				writes++
				mu.Unlock()
				time.Sleep(time.Hour)
				mu.Lock()
				running--
				mu.Unlock()
				return true
			}})
			s.read(r, 0, 4*64*k)
			synctest.Wait()
			r.Close()
			if running != 0 || writes == 0 || writes > maxPushers {
				t.Errorf("%d writes, %d of them still in progress", writes, running)
			}
		})
	}
}
