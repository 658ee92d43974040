package cache

import (
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// shards is the number of locks over which lookups are spread.
const shards = 64

// index finds entries by their keys. It has no references to entries.
type index [shards]struct {
	sync.RWMutex
	entries map[volume.Key]*entry
	_       [64]byte // keeps other shards out of the cache line
}

// get returns the entry of k with a reference added, and its load if the block is being loaded. It returns nil if
// there is no entry or its load is abandoned.
func (x *index) get(h uint64, k volume.Key) (e *entry, pending *load) {
	s := &x[h%shards]
	s.RLock()
	defer s.RUnlock()
	e = s.entries[k]
	if e == nil {
		return nil, nil
	}
	pending, alive := e.join()
	if !alive {
		return nil, nil
	}
	return e, pending
}

// put adds e and returns nil. If the index already has an entry of this key, put returns that instead, as get does.
func (x *index) put(e *entry) (other *entry, pending *load) {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	if old := s.entries[e.key]; old != nil {
		if pending, alive := old.join(); alive {
			return old, pending
		}
	}
	if s.entries == nil {
		s.entries = make(map[volume.Key]*entry)
	}
	s.entries[e.key] = e
	return nil, nil
}

// remove removes e, unless another entry has replaced it.
func (x *index) remove(e *entry) {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	if s.entries[e.key] == e {
		delete(s.entries, e.key)
	}
}
