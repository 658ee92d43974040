package prefetch

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// TestReadersSharePortions has two readers of one array. Each block is loaded once, although both have memory.
func TestReadersSharePortions(t *testing.T) {
	inScene(t, 2*fitsTwoReaders, func(t *testing.T, s *scene) {
		a, b := s.openAll(NoHint), s.openAll(NoHint)
		for off := int64(0); off < 32*scenePlane; off += 64 * k {
			s.read(a, off, 64*k)
			synctest.Wait()
			s.read(b, off, 64*k)
		}
		s.expectState(a, sequential)
		s.expectState(b, sequential)
		s.expectLoads(4 * slabBlocks)
		a.Close()
		s.read(b, 30*scenePlane, 2*scenePlane)
		b.Close()
	})
}

// TestArraysShareBlocks has readers of other boxes of the same voxels: of the same blocks, of more blocks and of
// fewer. All read the right bytes, and blocks in memory are not loaded again.
func TestArraysShareBlocks(t *testing.T) {
	for _, box := range []volume.Box{
		{Min: volume.Vec{1, 2, 3}, Max: volume.Vec{511, 510, 31}},
		{Min: volume.Vec{64, 0, 0}, Max: sceneSize},
		{Min: volume.Vec{0, 60, 4}, Max: volume.Vec{512, 300, 32}},
	} {
		inScene(t, 2*fitsTwoReaders, func(t *testing.T, s *scene) {
			a, b := s.openAll(HintSequential), s.open(box, HintSequential)
			defer a.Close()
			defer b.Close()
			for z := range int64(32) {
				s.read(a, z*scenePlane, scenePlane)
				synctest.Wait()
				if z := z - int64(box.Min[2]); z >= 0 && z < int64(box.Size()[2]) {
					s.read(b, z*b.array.PlaneBytes(), b.array.PlaneBytes())
				}
			}
			s.expectLoads(4 * slabBlocks)
		})
	}
}

// TestManyReaders reads with several goroutines of each kind of reader, with and without sinks.
func TestManyReaders(t *testing.T) {
	for _, budget := range []int64{fitsPartialSlabs, fitsOneReader, 2 * fitsTwoReaders} {
		inScene(t, budget, func(t *testing.T, s *scene) {
			var group sync.WaitGroup
			for i := range 6 {
				r := s.openAll([]Hint{NoHint, NoHint, HintSequential, HintOnce, NoHint, NoHint}[i])
				if i < 2 {
					r.Push(vfs.Sink{All: i == 0, Page: 4 * k, Piece: 256 * k,
						Write: func([]byte, int64) bool { return true }})
				}
				group.Go(func() {
					defer r.Close()
					var threads sync.WaitGroup
					for thread := range int64(2) {
						threads.Go(func() {
							for j := range int64(64) {
								at := (2*j + thread) * 64 * k
								if i == 4 {
									at = 127*64*k - at
								}
								p := make([]byte, 64*k)
								if _, err := r.ReadAt(t.Context(), p, at); err != nil ||
									string(p) != string(sceneVoxels()[at:at+64*k]) {
									t.Errorf("reader %d, 64 KiB at %d: %v, or wrong bytes", i, at, err)
								}
							}
						})
					}
					threads.Wait()
				})
			}
			group.Wait()
		})
	}
}
