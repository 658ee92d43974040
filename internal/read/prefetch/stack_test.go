package prefetch

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/volume"
)

// TestStack checks when a stack opens its array, and when it closes it.
func TestStack(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		var arrays atomic.Int64
		stack := s.prefetcher.NewStack(func() (Array, func()) {
			arrays.Add(1)
			r := s.openAll(HintSequential)
			return r.array, func() { arrays.Add(-1); r.Close() }
		})
		openPlane := func(z int, wantReader bool) (closed func()) {
			t.Helper()
			r, closed := stack.Open(z)
			if (r != nil) != wantReader {
				t.Errorf("plane %d has a reader: %v, expected %v", z, r != nil, wantReader)
			}
			if r != nil {
				s.read(r, int64(z)*scenePlane, scenePlane)
			}
			return closed
		}
		openPlane(0, false)()
		openPlane(1, true)()
		openPlane(20, false)() // another reader
		openPlane(2, true)()
		time.Sleep(closeDelay - 1)
		closed := openPlane(3, true)
		time.Sleep(2 * closeDelay)
		s.expectFree(false)
		closed()
		time.Sleep(closeDelay - 1)
		synctest.Wait()
		if n := arrays.Load(); n != 1 {
			t.Errorf("%d arrays are open, expected 1", n)
		}
		s.expectFree(false)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := arrays.Load(); n != 0 || len(stack.series) != 0 {
			t.Errorf("%d arrays and %d series are open after %v", n, len(stack.series), closeDelay)
		}
		s.expectFree(true)
	})
}

// TestStackAhead checks when the slab after the one that is read is decoded: after four planes in order, but later if
// several planes were open at a time. A slab has 8 planes.
func TestStackAhead(t *testing.T) {
	for _, c := range []struct {
		name    string
		planes  []int
		several bool // two planes are open at a time
		slabs   int  // that are decoded
	}{
		{"two", []int{0, 1}, false, 1},
		{"three in the middle of a slab", []int{1, 2, 5}, false, 1},
		{"four", []int{0, 1, 2, 3}, false, 2},
		{"four, two at a time", []int{0, 1, 2}, true, 1},
		{"five, two at a time", []int{0, 1, 2, 3, 4}, true, 2},
		{"to the end of a slab", []int{5, 6, 7}, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
				stack := s.prefetcher.NewStack(func() (Array, func()) {
					r := s.openAll(HintSequential)
					return r.array, r.Close
				})
				closeLast := func() {}
				for _, z := range c.planes {
					r, closed := stack.Open(z)
					if r == nil { // the first plane
						r = s.open(volume.Box{Min: volume.Vec{0, 0, z}, Max: volume.Vec{sceneSize[0], sceneSize[1],
							z + 1}}, HintSequential)
						s.read(r, 0, scenePlane)
						r.Close()
					} else {
						s.read(r, int64(z)*scenePlane, scenePlane)
					}
					if !c.several {
						closed()
						continue
					}
					closeLast()
					closeLast = closed
				}
				closeLast()
				s.expectLoads(c.slabs * slabBlocks)
				time.Sleep(2 * closeDelay)
			})
		})
	}
}
