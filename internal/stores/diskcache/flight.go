package diskcache

import (
	"context"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

const (
	// unitSize is the unit of requests to the source.
	unitSize = 64 << 10
	// maxFlight is the maximum size of a request in bytes, a multiple of unitSize.
	maxFlight = 16 << 20
	// maxGap is the largest gap between missing units that are read in one request. The bytes in it are read though
	// they may be on the disk.
	maxGap = 256 << 10
)

// unit is a unit of an object, which has the bytes from n·unitSize.
type unit struct {
	object identity
	n      int64
}

// flight is a request to the source: for units without a gap.
type flight struct {
	object identity
	span
	done chan struct{} // closed when data and err are set
	data []byte        // not changed afterwards, until the flight is free
	err  error

	cancel   context.CancelFunc
	reserved int64  // bytes of the memory of the cache
	buffer   []byte // of the request; data is a part of it

	// Guarded by flights.mu. When there are no readers and inUse is false, the flight is free: its memory is given
	// back.
	readers int
	ended   bool
	inUse   bool // the request is in progress, or its bytes are to be written
}

// flights are the requests in flight, and those whose bytes are not yet on the disk.
type flights struct {
	mu      sync.Mutex
	of      map[unit]*flight
	stopped bool
	runs    sync.WaitGroup
	memory  *memory // of flights
}

func (f *flight) units(yield func(unit) bool) {
	for n := f.from / unitSize; n*unitSize < f.to; n++ {
		if !yield(unit{f.object, n}) {
			return
		}
	}
}

// joined are the flights of a read.
type joined struct {
	all     []*flight // in the order of their bytes
	started bool      // one of them is new
	waits   bool      // one of them is in progress
}

// join returns flights for all missing spans of an object. start is called for each new one; it must not wait. Each
// flight counts one reader more, until leave. ok is false after stop.
func (s *flights) join(id identity, size int64, missing []span, start func(*flight)) (j joined, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return j, false
	}
	j.all = s.find(id, size, missing)
	for _, f := range j.all {
		j.waits = j.waits || !f.ended
		if f.cancel == nil {
			j.started, f.inUse = true, true
			start(f)
		}
	}
	return j, true
}

// find returns flights for all missing spans, and adds those that are new.
func (s *flights) find(id identity, size int64, missing []span) (all []*flight) {
	var last *flight // the last of all if it is new, and can still grow
	for _, m := range missing {
		m = widen(m, unitSize, size)
		for n := m.from / unitSize; n*unitSize < m.to; n++ {
			at := n * unitSize
			if len(all) > 0 && at < all[len(all)-1].to {
				continue
			}
			if f := s.of[unit{id, n}]; f != nil {
				f.readers++
				all, last = append(all, f), nil
				continue
			}
			if last == nil || at-last.to > maxGap || at-last.from >= maxFlight || !s.grow(last, at) {
				last = &flight{object: id, span: span{at, at}, done: make(chan struct{}), readers: 1}
				all = append(all, last)
			}
			last.to = min(at+unitSize, size)
			s.of[unit{id, n}] = last
		}
	}
	return all
}

// grow extends a new flight over a gap, up to byte offset to. It returns false if another flight has bytes of the gap.
func (s *flights) grow(f *flight, to int64) bool {
	gap := flight{object: f.object, span: span{f.to, to}}
	for u := range gap.units {
		if s.of[u] != nil {
			return false
		}
	}
	f.to = to
	for u := range gap.units {
		s.of[u] = f
	}
	return true
}

// leave says that a reader no longer waits. A flight in progress without a reader is canceled.
func (s *flights) leave(all []*flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range all {
		if f.readers--; f.readers == 0 && !f.ended {
			f.cancel()
			s.remove(f)
		}
		s.freeUnused(f)
	}
}

// freeUnused gives back the memory of a flight that is free. The caller holds the lock.
func (s *flights) freeUnused(f *flight) {
	if f.readers > 0 || f.inUse {
		return
	}
	free(f.buffer)
	s.memory.release(f.reserved)
	f.buffer, f.data, f.reserved = nil, nil, 0
}

// end says that data and err of a flight are set. A flight that is not kept can no longer be joined.
func (s *flights) end(f *flight, keep bool) {
	defer f.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ended = true
	close(f.done)
	if !keep {
		s.drop(f)
	}
}

// forget removes a flight whose bytes were written, or will not be.
func (s *flights) forget(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(f)
}

// drop removes a flight that is used by its readers only. The caller holds the lock.
func (s *flights) drop(f *flight) {
	s.remove(f)
	f.inUse = false
	s.freeUnused(f)
}

func (s *flights) remove(f *flight) {
	for u := range f.units {
		if s.of[u] == f {
			delete(s.of, u)
		}
	}
}

// stop cancels all flights. The channel is closed when all have ended. No flight starts afterwards.
func (s *flights) stop() (ended <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, f := range s.of {
		f.cancel()
	}
	all := make(chan struct{})
	go guard.Func("diskcache.stop", func() { // ends with the answers of the source
		defer close(all)
		guard.Pass("diskcache.stop")
		s.runs.Wait()
	})()
	return all
}
