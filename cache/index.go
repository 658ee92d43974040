package cache

import (
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// shards is the number of locks that lookups are spread over.
const shards = 64

// index finds the entries that somebody has a reference to. It has none itself.
type index [shards]struct {
	sync.RWMutex
	entries map[volume.Key]*entry
	_       [64]byte // keeps neighbours out of this cache line
}

// get returns the entry of k with a reference added, and its load if that is under way; nil if there is none, or its load is
// abandoned.
func (x *index) get(h uint64, k volume.Key) (e *entry, under *load) {
	s := &x[h%shards]
	s.RLock()
	defer s.RUnlock()
	e = s.entries[k]
	if e == nil {
		return nil, nil
	}
	under, alive := e.join()
	if !alive {
		return nil, nil
	}
	return e, under
}

// put adds e. If there is a live entry of its key, put returns that instead, in the way of get.
func (x *index) put(e *entry) (other *entry, under *load) {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	if old := s.entries[e.key]; old != nil {
		if under, alive := old.join(); alive {
			return old, under
		}
	}
	if s.entries == nil {
		s.entries = make(map[volume.Key]*entry)
	}
	s.entries[e.key] = e
	return nil, nil
}

// remove takes e out, unless another entry has its place.
func (x *index) remove(e *entry) {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	if s.entries[e.key] == e {
		delete(s.entries, e.key)
	}
}
