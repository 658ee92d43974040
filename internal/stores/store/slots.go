package store

import (
	"container/list"
	"time"
)

// slots are those of the requests of one kind. The lock of the queue protects them.
type slots struct {
	free    []int
	starts  []time.Duration // by slot: start of the request, since the epoch, or notInUse
	waiting list.List       // of chan int, each of which receives a slot
}

const notInUse = -1

func (s *slots) init(depth int) {
	for slot := range depth {
		s.free = append(s.free, slot)
		s.starts = append(s.starts, notInUse)
	}
}

// handOver gives a slot to the request that has waited longest, or frees it.
func (s *slots) handOver(slot int, now time.Duration) {
	if first := s.waiting.Front(); first != nil {
		s.starts[slot] = now
		s.waiting.Remove(first).(chan int) <- slot
		return
	}
	s.starts[slot] = notInUse
	s.free = append(s.free, slot)
}

// used returns the number of requests in flight.
func (s *slots) used() int { return len(s.starts) - len(s.free) }

// oldest returns the earliest start of a request in flight, or now.
func (s *slots) oldest(now time.Duration) time.Duration {
	for _, start := range s.starts {
		if start != notInUse {
			now = min(now, start)
		}
	}
	return now
}
