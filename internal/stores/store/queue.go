package store

import (
	"container/list"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// queue bounds and times the requests in flight. Reads have slots of their own, and lookups have others: if one kind
// gets no answer, the other does not wait. Waiting requests get a slot in the order of their arrival.
//
// One lock protects everything. A read takes it twice; more would slow down reads of the page cache.
type queue struct {
	epoch  time.Time
	bytes  *semaphore.Weighted
	near   nearness
	remote bool
	limits

	mu             sync.Mutex
	mostInFlight   int
	reads, lookups meter
}

func newQueue(o Options) *queue {
	q := &queue{epoch: time.Now(), remote: o.Remote}
	q.setLimits(usualLimits(o.Remote))
	q.reads.init(o)
	q.lookups.init(o)
	return q
}

// setLimits sets the limits. It is called before the first request.
func (q *queue) setLimits(l limits) { q.limits, q.bytes = l, semaphore.NewWeighted(l.most) }

// now returns the time since the epoch. It takes half the time of time.Now.
func (q *queue) now() time.Duration { return time.Since(q.epoch) }

// acquire waits for a free slot of a kind of request and starts a request in it. The error is ctx.Err() if ctx is done
// before.
func (q *queue) acquire(ctx context.Context, m *meter) (slot int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	slot, turn, position := q.tryAcquire(m)
	if turn == nil {
		return slot, nil
	}
	select {
	case slot = <-turn:
		return slot, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	m.waiting.Remove(position)
	select {
	case slot = <-turn: // received at the same time
		m.handOver(slot, q.now())
	default:
	}
	return 0, ctx.Err()
}

// tryAcquire starts a request in a free slot. If there is none, it returns a channel that will have one, and its
// position among those that wait.
func (q *queue) tryAcquire(m *meter) (slot int, turn chan int, position *list.Element) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if n := len(m.free) - 1; n >= 0 {
		slot, m.free = m.free[n], m.free[:n]
		m.starts[slot] = now
		q.mostInFlight = max(q.mostInFlight, q.used())
		return slot, nil, nil
	}
	turn = make(chan int, 1)
	return 0, turn, m.waiting.PushBack(turn)
}

// restart sets the start of the request in the slot to now. The goroutine that sends the request calls it,
// because it may have waited for a processor.
func (q *queue) restart(slot int, m *meter) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	m.starts[slot] = now
}

// release gives back the slot and counts the answer of n bytes. If the answer is timed, it also counts for
// the lateness of the source.
func (q *queue) release(slot int, m *meter, n int, timed bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	took := now - m.starts[slot]
	m.handOver(slot, now)
	m.count(now, took, n)
	if timed {
		m.observe(took, n)
	}
}

// releaseReads gives back the slot and counts the answers to consecutive reads in it.
func (q *queue) releaseReads(slot int, ranges []vfs.Range, took []time.Duration) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reads.handOver(slot, now)
	for i := range ranges {
		n := len(ranges[i].P)
		if ranges[i].Err != nil {
			n = 0
		}
		q.reads.count(now, took[i], n)
		if n > 0 {
			q.reads.observe(took[i], n)
		}
	}
}

// releaseLookups gives back the slot and counts the answers to consecutive lookups in it.
func (q *queue) releaseLookups(slot int, took []time.Duration) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lookups.handOver(slot, now)
	for _, d := range took {
		q.lookups.count(now, d, 0)
		q.lookups.observe(d, 0)
	}
}

// acquireBytes waits until a read of n bytes may be in flight, and then for a slot.
func (q *queue) acquireBytes(ctx context.Context, n int64) (slot int, err error) {
	if err := q.bytes.Acquire(ctx, min(n, q.most)); err != nil {
		return 0, err
	}
	if slot, err = q.acquire(ctx, &q.reads); err != nil {
		q.releaseBytes(n)
	}
	return slot, err
}

// releaseBytes gives back n bytes. The slot is given back by release.
func (q *queue) releaseBytes(n int64) { q.bytes.Release(min(n, q.most)) }

// inFlight returns the number of requests in flight.
func (q *queue) inFlight() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used()
}

// used is inFlight for a caller that holds the lock.
func (q *queue) used() int { return q.reads.used() + q.lookups.used() }

func (q *queue) stats() Stats {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := min(q.reads.oldest(now), q.lookups.oldest(now))
	return Stats{
		Reads:        q.reads.answers(now),
		Lookups:      q.lookups.answers(now),
		Bytes:        q.reads.bytes,
		Depth:        len(q.reads.starts),
		InFlight:     q.used(),
		MostInFlight: q.mostInFlight,
		LongestWait:  now - oldest,
		Late:         q.remote || q.reads.lateness.late(),
	}
}
