package store

import (
	"container/list"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxInFlight is how many bytes of reads are in flight at most if the source answers late. It takes a source of
// 1.6 GB/s with answers after 20 ms to make use of more.
const maxInFlight = 32 << 20

// queue bounds how many requests are in flight, measures them, and serves those that wait in the order in which they
// came. All is under one lock, because a read of the page cache cannot afford more: it takes the lock twice.
type queue struct {
	epoch time.Time
	bytes *semaphore.Weighted

	mu           sync.Mutex
	free         []int           // slots
	starts       []time.Duration // of the request in each slot, since the epoch; none: notInUse
	waiting      list.List       // of chan int, which is given a slot
	most         int             // requests in flight
	reads, looks meter
}

const notInUse = -1

func newQueue(o Options) *queue {
	q := &queue{epoch: time.Now(), bytes: semaphore.NewWeighted(maxInFlight)}
	for slot := range o.Depth {
		q.free = append(q.free, slot)
		q.starts = append(q.starts, notInUse)
	}
	q.reads.pace.init(o.Local)
	q.looks.pace.init(o.Local)
	return q
}

// now is the time since the epoch. It costs half of time.Now.
func (q *queue) now() time.Duration { return time.Since(q.epoch) }

// enter waits for a free slot and starts a request in it. It fails only when ctx is done.
func (q *queue) enter(ctx context.Context) (slot int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	now := q.now()
	q.mu.Lock()
	if n := len(q.free) - 1; n >= 0 {
		slot, q.free = q.free[n], q.free[:n]
		q.starts[slot] = now
		q.most = max(q.most, len(q.starts)-n)
		q.mu.Unlock()
		return slot, nil
	}
	turn := make(chan int, 1)
	place := q.waiting.PushBack(turn)
	q.mu.Unlock()
	select {
	case slot = <-turn:
		return slot, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting.Remove(place)
	select {
	case slot = <-turn: // at the same time
		q.pass(slot, q.now())
	default:
	}
	return 0, ctx.Err()
}

// start starts the request in the slot anew: a goroutine that was to send it has begun to run.
func (q *queue) start(slot int) {
	now := q.now()
	q.mu.Lock()
	q.starts[slot] = now
	q.mu.Unlock()
}

// leave gives the slot back and counts the answer of n bytes. It reports whether that was late, if it is to be judged.
func (q *queue) leave(slot int, m *meter, n int, judge bool) (late bool) {
	now := q.now()
	q.mu.Lock()
	took := now - q.starts[slot]
	q.pass(slot, now)
	m.count(now, took, n)
	late = judge && m.pace.judge(took, n)
	q.mu.Unlock()
	return late
}

// leaveReads gives the slot back and counts the answers to reads that were made in it, one after the other.
func (q *queue) leaveReads(slot int, ranges []vfs.Range, took []time.Duration) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass(slot, now)
	for i := range ranges {
		n := len(ranges[i].P)
		if ranges[i].Err != nil {
			n = 0
		}
		q.reads.count(now, took[i], n)
		if n > 0 {
			q.reads.pace.judge(took[i], n)
		}
	}
}

// leaveLooks gives the slot back and counts the answers to looks that were made in it, one after the other.
func (q *queue) leaveLooks(slot int, took []time.Duration) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pass(slot, now)
	for _, d := range took {
		q.looks.count(now, d, 0)
		q.looks.pace.judge(d, 0)
	}
}

// pass gives a slot to the one that has waited longest.
func (q *queue) pass(slot int, now time.Duration) {
	if first := q.waiting.Front(); first != nil {
		q.starts[slot] = now
		q.waiting.Remove(first).(chan int) <- slot
		return
	}
	q.starts[slot] = notInUse
	q.free = append(q.free, slot)
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

// inFlight returns how many requests are in flight.
func (q *queue) inFlight() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.starts) - len(q.free)
}

// stats returns what there is to know now.
func (q *queue) stats() Stats {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := now
	for _, start := range q.starts {
		if start != notInUse {
			oldest = min(oldest, start)
		}
	}
	return Stats{
		Reads:    q.reads.answers(now),
		Looks:    q.looks.answers(now),
		Bytes:    q.reads.bytes,
		Depth:    len(q.starts),
		InFlight: len(q.starts) - len(q.free),
		Most:     q.most,
		Oldest:   now - oldest,
		Late:     q.reads.pace.late(),
	}
}
