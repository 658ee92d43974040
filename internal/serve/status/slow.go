package status

import (
	"slices"
	"sync"
)

// maxSlow is the number of slow reads that are kept.
const maxSlow = 10

// slowReads holds the last slow reads.
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

// last returns the slow reads, the latest first.
func (s *slowReads) last() []SlowRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []SlowRead{} // [] in JSON, not null
	for i := max(s.seen-maxSlow, 0); i < s.seen; i++ {
		all = append(all, s.ring[i%maxSlow])
	}
	slices.Reverse(all)
	return all
}
