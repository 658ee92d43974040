package prefetch

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

var aheadPiece = usual.leastAhead // a plane of the scene

// aheadBox has three planes of each block in the first slab.
var aheadBox = volume.Box{Max: volume.Vec{512, 512, 6}}

// readPiece reads a piece without Lend, and checks it.
func (s *scene) readPiece(r *Reader, off int64) {
	s.t.Helper()
	p := make([]byte, aheadPiece)
	if n, err := r.ReadAt(s.t.Context(), p, off); n != len(p) || err != nil || !bytes.Equal(p, sceneVoxels()[off:off+aheadPiece]) {
		s.t.Errorf("%d bytes at %d, or wrong ones: %v", n, off, err)
	}
}

// lend checks that a piece is lent, or is not, and returns it.
func (s *scene) lend(r *Reader, off int64, want bool) (p []byte, release func()) {
	s.t.Helper()
	p, release = r.Lend(s.t.Context(), aheadPiece, off)
	if (p != nil) != want || want && !bytes.Equal(p, sceneVoxels()[off:off+aheadPiece]) {
		s.t.Errorf("%d bytes at %d are lent, or wrong ones, expected some: %v", len(p), off, want)
	}
	if release == nil {
		release = func() {}
	}
	return p, release
}

// TestLend: after a read of an array that is read once, the pieces after it are lent, one after the other. They do not change until they are
// released.
func TestLend(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.open(aheadBox, HintOnce)
		s.lend(r, 0, false)
		s.readPiece(r, 0)
		first, releaseFirst := s.lend(r, aheadPiece, true)
		s.lend(r, aheadPiece, false) // it is lent already
		second, releaseSecond := s.lend(r, 2*aheadPiece, true)
		_, releaseThird := s.lend(r, 3*aheadPiece, true)
		releaseThird()
		_, releaseFourth := s.lend(r, 4*aheadPiece, true)
		releaseFourth()
		if !bytes.Equal(first, sceneVoxels()[aheadPiece:2*aheadPiece]) || !bytes.Equal(second, sceneVoxels()[2*aheadPiece:3*aheadPiece]) {
			t.Error("lent bytes have changed")
		}
		releaseFirst()
		_, releaseLast := s.lend(r, 5*aheadPiece, true)
		s.expectLoads(slabBlocks)
		r.Close()
		releaseLast()
		releaseSecond()
	})
}

// TestNotLent: nothing is lent to readers that read elsewhere or small pieces, nor through the page cache, nor without memory.
func TestNotLent(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget int64
		hint   Hint
		sink   bool
	}{
		{"a sink", fitsTwoReaders, HintOnce, true},
		{"no memory", fitsPartialSlabs, HintOnce, false},
		{"a reader of planes", fitsTwoReaders, NoHint, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inScene(t, c.budget, func(t *testing.T, s *scene) {
				r := s.open(aheadBox, c.hint)
				defer r.Close()
				if c.sink {
					r.Push(vfs.Sink{Page: usual.page, Piece: usual.page, Write: func([]byte, int64) bool { return true }})
				}
				s.readPiece(r, 0)
				s.lend(r, aheadPiece, false)
			})
		})
	}
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r := s.open(aheadBox, HintOnce)
		defer r.Close()
		for i, off := range []int64{0, 3, 1} { // each is followed by a piece that is gathered and not read
			s.readPiece(r, off*aheadPiece)
			synctest.Wait()
			if got := r.ahead.next != nil; got != (i < maxUnused) {
				t.Errorf("after %d reads elsewhere, a piece is gathered: %v", i, got)
			}
		}
	})
}

// TestLendWaits: a piece whose blocks are not decoded yet is waited for, but not by a reader that was killed. A piece with damage is not lent.
func TestLendWaits(t *testing.T) {
	inScene(t, 2*fitsTwoReaders, func(t *testing.T, s *scene) {
		s.gate = make(chan struct{})
		s.damaged = volume.Vec{0, 0, 1}
		r := s.open(volume.Box{Max: volume.Vec{512, 512, 16}}, HintOnce)
		defer r.Close()
		go s.readPiece(r, 0)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if p, _ := r.Lend(ctx, aheadPiece, aheadPiece); p != nil {
			t.Error("a piece is lent to a reader that was killed")
		}
		done := make(chan bool)
		go func() {
			_, release := s.lend(r, 2*aheadPiece, true)
			release()
			close(done)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("a piece is lent before it is decoded")
		default:
		}
		close(s.gate)
		<-done
		s.readPiece(r, 7*aheadPiece)
		s.lend(r, 8*aheadPiece, false) // damaged
	})
}
