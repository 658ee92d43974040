package cache

import (
	"sync"

	"github.com/wkwfs/wkwfs/volume"
)

// shards is the number of locks over which lookups are spread.
const shards = 64

// index finds entries by their keys. It has no references to entries. Its maps have hashes instead of keys, which are
// three times as long. Entries with the same hash are a list.
type index [shards]struct {
	sync.RWMutex
	entries map[uint64]*entry // the first of each list
	_       [64]byte          // keeps other shards out of the cache line
}

// get returns the entry of k with a reference added, and its load if the block is being loaded. It returns nil if
// there is no entry or its load is abandoned.
func (x *index) get(h uint64, k volume.Key) (e *entry, pending *load) {
	s := &x[h%shards]
	s.RLock()
	defer s.RUnlock()
	e = s.entries[h].find(k)
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
	if s.entries == nil {
		s.entries = make(map[uint64]*entry)
	}
	list := s.entries[e.hash]
	if old := list.find(e.key); old != nil {
		if pending, alive := old.join(); alive {
			return old, pending
		}
		list = list.without(old)
	}
	e.next = list
	s.entries[e.hash] = e
	return nil, nil
}

// remove removes e, unless another entry has replaced it.
func (x *index) remove(e *entry) {
	s := &x[e.hash%shards]
	s.Lock()
	defer s.Unlock()
	list := s.entries[e.hash]
	switch rest := list.without(e); {
	case rest == nil:
		delete(s.entries, e.hash)
	case rest != list:
		s.entries[e.hash] = rest
	}
}

// find returns the entry of k in a list, or nil.
func (e *entry) find(k volume.Key) *entry {
	for ; e != nil; e = e.next {
		if e.key == k {
			return e
		}
	}
	return nil
}

// without removes an entry from a list, if the list has it, and returns the list.
func (e *entry) without(removed *entry) *entry {
	if e == removed {
		return e.next
	}
	for at := e; at != nil; at = at.next {
		if at.next == removed {
			at.next = removed.next
			break
		}
	}
	return e
}
