package cache

import (
	"sync"
	"sync/atomic"
)

// shards is the number of locks that hits are spread over.
const shards = 64

// index finds the entries of the window.
type index [shards]struct {
	sync.RWMutex
	entries map[key]*entry
	hits    atomic.Uint64 // here, and not one for all, so that cores do not wait for its cache line
	_       [64]byte      // keeps neighbours out of this cache line
}

// get returns the entry of k, nil if there is none, and counts a hit.
func (x *index) get(h uint64, k key) *entry {
	s := &x[h%shards]
	s.RLock()
	e := s.entries[k]
	s.RUnlock()
	if e != nil {
		s.hits.Add(1)
	}
	return e
}

// put adds e and reports whether its key was new; otherwise nothing changes.
func (x *index) put(e *entry) bool {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	if _, ok := s.entries[e.key]; ok {
		return false
	}
	if s.entries == nil {
		s.entries = make(map[key]*entry)
	}
	s.entries[e.key] = e
	return true
}

func (x *index) remove(e *entry) {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	delete(s.entries, e.key)
}

func (x *index) clear() {
	for i := range x {
		s := &x[i]
		s.Lock()
		s.entries = nil // an emptied map would keep its size
		s.Unlock()
	}
}

// hitCount returns how often get found something.
func (x *index) hitCount() (n uint64) {
	for i := range x {
		n += x[i].hits.Load()
	}
	return n
}
