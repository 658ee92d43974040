package prefetch

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/tests/voxeltest"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// pagesSink is a sink that records the pages of each plane and compares their bytes.
type pagesSink struct {
	t  *testing.T
	mu sync.Mutex
	of map[int64]int // number of pages of each plane
}

func (s *pagesSink) sink() vfs.Sink {
	return vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k, Write: func(p []byte, off int64) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if off%(4*k) != 0 || len(p)%(4*k) != 0 || !bytes.Equal(p, sceneVoxels()[off:off+int64(len(p))]) {
			s.t.Errorf("%d wrong bytes at %d", len(p), off)
		}
		s.of[off/scenePlane] += len(p) / (4 * k)
		return true
	}}
}

// expect checks that n pages of each plane from one to another were pushed, and nothing else, since the last call.
func (s *pagesSink) expect(from, to int64, n int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for z := from; z < to; z++ {
		if s.of[z] != n {
			s.t.Errorf("%d pages of plane %d pushed, expected %d", s.of[z], z, n)
		}
		delete(s.of, z)
	}
	if len(s.of) > 0 {
		s.t.Errorf("planes %d to %d expected, but these pages of others: %v", from, to, s.of)
	}
	clear(s.of)
}

// readRows reads 64 KiB of a plane, of which the second half are the rows that a reader needs.
func (s *scene) readRows(r *Reader, z int64) {
	s.t.Helper()
	s.read(r, z*scenePlane+64*k, 64*k)
}

// TestGuess checks what is pushed for a reader of patches, before its reads return, and that each block is loaded once
// from the second plane on.
func TestGuess(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r, pages := s.openAll(NoHint), &pagesSink{t: t, of: map[int64]int{}}
		r.Push(pages.sink())
		s.readRows(r, 9)
		s.expectLoads(16)
		pages.expect(0, 0, 0)
		s.readRows(r, 10)
		pages.expect(11, 12, 8)
		s.expectLoads(16)
		s.readRows(r, 12)
		pages.expect(13, 16, 8) // the rest of the slab
		s.expectLoads(0)
		s.readRows(r, 16)
		pages.expect(17, 24, 8)
		s.expectLoads(16)
		r.Close()
	})
}

// TestGuessProof checks that the first read of a later patch pushes all of its planes, without a page of the last one,
// and that the read of this page pushes nothing.
func TestGuessProof(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r, pages := s.openAll(NoHint), &pagesSink{t: t, of: map[int64]int{}}
		r.Push(pages.sink())
		for _, z := range []int64{1, 2, 4} { // a patch of 4 planes
			s.readRows(r, z)
		}
		clear(pages.of)
		for _, c := range []struct {
			first int64 // plane of the patch
			pages int   // that are pushed of a plane: one less for each patch
		}{{17, 7}, {10, 6}} {
			s.readRows(r, c.first)
			last := c.first + 3
			if n := pages.of[last]; n != c.pages-1 {
				t.Errorf("%d pages of plane %d pushed, expected %d", n, last, c.pages-1)
			}
			delete(pages.of, last)
			pages.expect(c.first+1, last, c.pages)
			s.read(r, last*scenePlane+96*k+int64(c.pages)/2*4*k, 4*k)
			pages.expect(0, 0, 0)
		}
		r.Close()
	})
}

// TestGuessOnce checks that guesses need a sink that takes all bytes.
func TestGuessOnce(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r, pages := s.openAll(NoHint), &pagesSink{t: t, of: map[int64]int{}}
		sink := pages.sink()
		sink.All = false
		r.Push(sink)
		for z := range int64(8) {
			s.readRows(r, z+8)
		}
		pages.expect(0, 0, 0)
		s.expectLoads(2 * 16)
		r.Close()
	})
}

// TestGuessDamaged checks that a damaged block fails only the reads of its voxels. The block lies in the rows that are
// guessed, but not in those that are read.
func TestGuessDamaged(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r, pages := s.openAll(NoHint), &pagesSink{t: t, of: map[int64]int{}}
		r.Push(pages.sink())
		s.damaged = volume.Vec{3, 4, 1}
		const readahead = 128 * k // its rows of blocks: 4 and 5
		for z := int64(9); z < 16; z++ {
			s.readRows(r, z)
			if _, err := r.ReadAt(t.Context(), make([]byte, 64*k), z*scenePlane+readahead); err == nil {
				t.Error("a read of a damaged block succeeded")
			}
			s.read(r, z*scenePlane+readahead+32*k, 32*k)
		}
		synctest.Wait()
		s.damaged = volume.Cube(-1)
		s.read(r, 15*scenePlane+readahead, 64*k)
		r.Close()
	})
}

// TestPlaneIsNoPatch checks that nothing is guessed for a reader of whole planes. The kernel reads ahead of it into the
// next plane.
func TestPlaneIsNoPatch(t *testing.T) {
	c := cache.New(1 << 30)
	defer c.Close()
	box := volume.Box{Max: volume.Cube(1024)}
	a := flat.New(voxeltest.Grid(volume.Cube(1024), volume.Cube(32), volume.Uint8, 1), box, box)
	r := New(c).NewReader(Array{Array: a, Source: c.Source(voxeltest.Source{Shape: a.Grid()})}, NoHint)
	defer r.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, z := range []int64{70, 9, 300, 40} {
		for _, i := range []int64{0, 1, 2, 3, 4, 5, 6, 8, 7} { // the last two overtake each other
			if g := r.plan.observe(z*m+i*128*k, 128*k).next; g != (guess{}) {
				t.Errorf("plane %d, read %d: guessed %v", z, i, g)
			}
		}
	}
}

// TestGuessWaits checks that a read does not wait long for a sink that waits for this read, nor for blocks that it does
// not need.
func TestGuessWaits(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		r, stuck := s.openAll(NoHint), make(chan struct{})
		r.Push(vfs.Sink{All: true, Page: 4 * k, Piece: 256 * k,
			Write: func([]byte, int64) bool { <-stuck; return true }})
		s.readRows(r, 9)
		for z := int64(10); z < 20; z++ {
			start := time.Now()
			s.readRows(r, z)
			if waited := time.Since(start); waited > maxGuessWait {
				t.Errorf("plane %d: waited %v, expected %v at most", z, waited, maxGuessWait)
			}
		}
		if r.ledger.guesses > maxGuesses || r.ledger.guesses == 0 {
			t.Errorf("%d guesses at a time, expected %d at most", r.ledger.guesses, maxGuesses)
		}
		close(stuck)
		r.Close()
	})
}

// TestGuessMemory checks that reads succeed, and nothing is pushed, if no memory can be reserved.
func TestGuessMemory(t *testing.T) {
	inScene(t, 1<<20, func(t *testing.T, s *scene) {
		r, pages := s.openAll(NoHint), &pagesSink{t: t, of: map[int64]int{}}
		r.Push(pages.sink())
		for z := range int64(16) {
			s.readRows(r, z+8)
		}
		pages.expect(0, 0, 0)
		synctest.Wait()
		r.Close()
	})
}
