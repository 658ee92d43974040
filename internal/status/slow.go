package status

import (
	"slices"
	"sync"
)

// maxSlow is how many slow reads are remembered.
const maxSlow = 10

// slowReads remembers the last slow reads.
type slowReads struct {
	mu   sync.Mutex
	ring [maxSlow]SlowRead
	seen int
}

func (s *slowReads) add(r SlowRead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring[s.seen%maxSlow] = r
	s.seen++
}

// last returns them, the latest first.
func (s *slowReads) last() []SlowRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []SlowRead{} // an empty list, not none, in JSON
	for i := max(s.seen-maxSlow, 0); i < s.seen; i++ {
		all = append(all, s.ring[i%maxSlow])
	}
	slices.Reverse(all)
	return all
}
