package prefetch

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPlaneAndReadahead reads planes, each with some bytes past its end, as the kernel does. These need no block again, and nothing
// stays reserved.
func TestPlaneAndReadahead(t *testing.T) {
	for before, loads := range map[int64]int{ // by the bytes of the plane before in the first page
		0:         slabBlocks,
		4*k - 128: slabBlocks + 2*8, // three reads end in a row of blocks, and the first one pins its row
	} {
		inScene(t, fitsTwoReaders, func(t *testing.T, s *scene) {
			r := s.openAll(NoHint)
			for _, z := range []int64{9, 25, 1, 18} {
				s.read(r, z*scenePlane-before, scenePlane)
				if r.head == nil {
					t.Errorf("plane %d has no head", z)
				}
				s.expectLoads(loads)
				s.read(r, (z+1)*scenePlane-before, 64*k)
				s.expectLoads(0)
				s.expectFree(true)
			}
			r.Close()
		})
	}
}

// TestHeads checks after which reads a reader has a head.
func TestHeads(t *testing.T) {
	const p = 512 * 512
	for _, tt := range []struct {
		name   string
		budget int64
		hint   Hint
		reads  []read
		want   bool
	}{
		{"a plane", fitsTwoReaders, NoHint, []read{{9 * p, 64 * k}}, true},
		{"two reads in flight", fitsTwoReaders, NoHint, []read{{9*p + 64*k, 64 * k}, {9 * p, 64 * k}}, true},
		{"the first plane", fitsTwoReaders, NoHint, []read{{0, 64 * k}}, false},
		{"the last plane of a slab", fitsTwoReaders, NoHint, []read{{15 * p, 64 * k}}, false},
		{"the last plane", fitsTwoReaders, NoHint, []read{{31 * p, 64 * k}}, false},
		{"the middle of a plane", fitsTwoReaders, NoHint, []read{{9*p + 64*k, 64 * k}}, false},
		{"a page", fitsTwoReaders, NoHint, []read{{9 * p, 4 * k}}, false},
		{"a plane, then a page elsewhere", fitsTwoReaders, NoHint, []read{{9 * p, 64 * k}, {28 * p, 4 * k}}, false},
		{"a plane, then a page before", fitsTwoReaders, NoHint, []read{{9 * p, 64 * k}, {9*p - 4*k, 4 * k}}, false},
		{"on to the next plane", fitsTwoReaders, NoHint, []read{{9 * p, p}, {10 * p, 128 * k}}, false},
		{"a stream", fitsTwoReaders, NoHint, []read{{9 * p, p}, {10 * p, 3 * p}}, false},
		{"a reader of everything", fitsTwoReaders, HintSequential, []read{{9 * p, 64 * k}}, false},
		{"no memory", 256 * k, NoHint, []read{{9 * p, 64 * k}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inScene(t, tt.budget, func(t *testing.T, s *scene) {
				r := s.openAll(tt.hint)
				defer r.Close()
				for _, rd := range tt.reads {
					s.read(r, rd.off, rd.n)
				}
				synctest.Wait()
				if got := r.head != nil; got != tt.want {
					t.Errorf("a head: %v, expected %v", got, tt.want)
				}
			})
		})
	}
}

// TestIdleReaderLosesHead has a reader need the memory that an idle reader has reserved for a head.
func TestIdleReaderLosesHead(t *testing.T) {
	inScene(t, fitsOneReader, func(t *testing.T, s *scene) {
		idle, stream := s.openAll(NoHint), s.openAll(NoHint)
		s.read(idle, 9*scenePlane, 64*k)
		synctest.Wait()
		time.Sleep(2 * idleTime)
		s.read(stream, 0, 256*k)
		s.expectState(stream, sequential)
		if idle.head != nil {
			t.Error("the idle reader still has a head")
		}
		idle.Close()
		stream.Close()
	})
}
