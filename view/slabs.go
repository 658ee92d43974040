package view

import (
	"sync"
	"time"
)

// slabs is the slabs of all open files. Each belongs to the stream that had it decoded,
// and all who read the same array use it.
type slabs struct {
	mu      sync.Mutex
	slabs   map[slabKey]*slab // decoded or being decoded
	streams map[*stream]bool  // that have memory
	guesses guesses
}

func newSlabs() *slabs {
	return &slabs{slabs: map[slabKey]*slab{}, streams: map[*stream]bool{}}
}

// use adds a user to a slab, if it is one, and returns it. It is called with mu held.
func (s *slabs) use(used *slab) *slab {
	if used != nil {
		used.users++
	}
	return used
}

// release ends the use of a slab.
func (s *slabs) release(used *slab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used.users--
}

// idle is how long after its last read a stream may be taken its memory from.
const idle = time.Second

// reclaim takes the memory from a stream that rests, and reports whether there was one.
// It is called with mu held.
func (s *slabs) reclaim(now time.Time) bool {
	for other := range s.streams {
		if now.Sub(other.used) > idle && !other.busy() {
			other.drop()
			return true
		}
	}
	return false
}
