package store

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// maxInFlight is how many bytes of reads are in flight at most if the source answers late. It takes a source of
// 1.6 GB/s with answers after 20 ms to make use of more.
const maxInFlight = 32 << 20

type counter = atomic.Uint64

// queue bounds how many requests are in flight. It serves who waits in the order of coming, as channels do.
type queue struct {
	slots  chan int       // those that are free
	starts []atomic.Int64 // of the request in each slot: the time, and 1 ns more; 0 if there is none
	most   atomic.Int64
	bytes  *semaphore.Weighted
	epoch  time.Time
}

func newQueue(depth int) *queue {
	q := &queue{
		slots:  make(chan int, depth),
		starts: make([]atomic.Int64, depth),
		bytes:  semaphore.NewWeighted(maxInFlight),
		epoch:  time.Now(),
	}
	for slot := range depth {
		q.slots <- slot
	}
	return q
}

func (q *queue) depth() int    { return cap(q.slots) }
func (q *queue) inFlight() int { return cap(q.slots) - len(q.slots) }

// now is the time since the queue was made: half as dear as time.Now.
func (q *queue) now() time.Duration { return time.Since(q.epoch) }

// enter waits for a free slot. It fails only when ctx is done.
func (q *queue) enter(ctx context.Context) (slot int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case slot = <-q.slots: // nobody waits, or none would be free
	default:
		select {
		case slot = <-q.slots:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	for n := int64(q.inFlight()); ; {
		if most := q.most.Load(); n <= most || q.most.CompareAndSwap(most, n) {
			return slot, nil
		}
	}
}

// enterWith also waits until n bytes may be in flight.
func (q *queue) enterWith(ctx context.Context, n int64) (slot int, err error) {
	if err := q.bytes.Acquire(ctx, min(n, maxInFlight)); err != nil {
		return 0, err
	}
	if slot, err = q.enter(ctx); err != nil {
		q.leaveWith(n)
	}
	return slot, err
}

// leaveWith gives back n bytes. The slot was given back by leave.
func (q *queue) leaveWith(n int64) { q.bytes.Release(min(n, maxInFlight)) }

// start returns the time at which the request in the slot is sent.
func (q *queue) start(slot int) time.Duration {
	start := q.now()
	q.starts[slot].Store(int64(start) + 1)
	return start
}

// leave gives the slot back and returns how long its request took.
func (q *queue) leave(slot int, start time.Duration) time.Duration {
	took := q.now() - start
	q.starts[slot].Store(0)
	q.slots <- slot
	return took
}

// oldest returns how long the oldest request in flight has been waiting.
func (q *queue) oldest(now time.Duration) time.Duration {
	oldest := now
	for slot := range q.starts {
		if start := q.starts[slot].Load(); start != 0 {
			oldest = min(oldest, time.Duration(start-1))
		}
	}
	return now - oldest
}
