package prefetch

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestStack checks when a stack opens its array, and when it closes it.
func TestStack(t *testing.T) {
	inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
		arrays := 0
		stack := s.prefetcher.NewStack(func() (Array, func()) {
			arrays++
			r := s.openAll(HintSequential)
			return Array{Array: r.array, Source: r.source, Version: r.version}, func() { arrays--; r.Close() }
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
		for z := range 3 {
			openPlane(z, false)()
		}
		openPlane(20, false)() // another reader
		openPlane(3, true)()
		time.Sleep(closeDelay - 1)
		closed := openPlane(4, true)
		time.Sleep(2 * closeDelay)
		s.expectFree(false)
		closed()
		time.Sleep(closeDelay - 1)
		synctest.Wait()
		if arrays != 1 {
			t.Errorf("%d arrays are open, expected 1", arrays)
		}
		s.expectFree(false)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if arrays != 0 || len(stack.series) != 0 {
			t.Errorf("%d arrays and %d series are open after %v", arrays, len(stack.series), closeDelay)
		}
		s.expectFree(true)
	})
}
