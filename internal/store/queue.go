package store

import (
	"container/list"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxInFlight is the maximum number of bytes of reads in flight if the source is late. Only a source of more
// than 1.6 GB/s with answers after 20 ms could use more.
const maxInFlight = 32 << 20

// maxRemoteInFlight is the same for an object store. It has answers after 50 ms and more: 32 MiB would be 0.4 GB/s of a store that has
// 1 GB/s for 64 requests at a time.
const maxRemoteInFlight = 72 << 20

// queue bounds and times the requests in flight. Waiting requests get a slot in the order of their arrival.
//
// One lock protects everything. A read takes it twice; more would slow down reads of the page cache.
type queue struct {
	epoch   time.Time
	bytes   *semaphore.Weighted
	near    nearness
	remote  bool
	longest int64 // the maximum size of a request to a late source, in bytes
	most    int64 // the maximum number of bytes of reads in flight

	mu             sync.Mutex
	free           []int           // slots
	starts         []time.Duration // by slot: start of the request, since the epoch, or notInUse
	waiting        list.List       // of chan int, each of which receives a slot
	mostInFlight   int
	reads, lookups meter
}

const notInUse = -1

func newQueue(o Options) *queue {
	q := &queue{epoch: time.Now(), remote: o.Remote, longest: maxRequest, most: maxInFlight}
	if o.Remote {
		q.longest, q.most = maxRemoteRequest, maxRemoteInFlight
	}
	q.bytes = semaphore.NewWeighted(q.most)
	for slot := range o.Depth {
		q.free = append(q.free, slot)
		q.starts = append(q.starts, notInUse)
	}
	q.reads.lateness.init(o.Local)
	q.lookups.lateness.init(o.Local)
	return q
}

// now returns the time since the epoch. It takes half the time of time.Now.
func (q *queue) now() time.Duration { return time.Since(q.epoch) }

// acquire waits for a free slot and starts a request in it. The error is ctx.Err() if ctx is done before.
func (q *queue) acquire(ctx context.Context) (slot int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	now := q.now()
	q.mu.Lock()
	if n := len(q.free) - 1; n >= 0 {
		slot, q.free = q.free[n], q.free[:n]
		q.starts[slot] = now
		q.mostInFlight = max(q.mostInFlight, len(q.starts)-n)
		q.mu.Unlock()
		return slot, nil
	}
	turn := make(chan int, 1)
	position := q.waiting.PushBack(turn)
	q.mu.Unlock()
	select {
	case slot = <-turn:
		return slot, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting.Remove(position)
	select {
	case slot = <-turn: // received at the same time
		q.handOver(slot, q.now())
	default:
	}
	return 0, ctx.Err()
}

// restart sets the start of the request in the slot to now. The goroutine that sends the request calls it,
// because it may have waited for a processor.
func (q *queue) restart(slot int) {
	now := q.now()
	q.mu.Lock()
	q.starts[slot] = now
	q.mu.Unlock()
}

// release gives back the slot and counts the answer of n bytes. If the answer is timed, it also counts for
// the lateness of the source, and release reports whether it was late.
func (q *queue) release(slot int, m *meter, n int, timed bool) (late bool) {
	now := q.now()
	q.mu.Lock()
	took := now - q.starts[slot]
	q.handOver(slot, now)
	m.count(now, took, n)
	late = timed && m.lateness.add(took, n)
	q.mu.Unlock()
	return late
}

// releaseReads gives back the slot and counts the answers to consecutive reads in it.
func (q *queue) releaseReads(slot int, ranges []vfs.Range, took []time.Duration) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handOver(slot, now)
	for i := range ranges {
		n := len(ranges[i].P)
		if ranges[i].Err != nil {
			n = 0
		}
		q.reads.count(now, took[i], n)
		if n > 0 {
			q.reads.lateness.add(took[i], n)
		}
	}
}

// releaseLookups gives back the slot and counts the answers to consecutive lookups in it.
func (q *queue) releaseLookups(slot int, took []time.Duration) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handOver(slot, now)
	for _, d := range took {
		q.lookups.count(now, d, 0)
		q.lookups.lateness.add(d, 0)
	}
}

// handOver gives a slot to the request that has waited longest, or frees it. The caller holds the lock.
func (q *queue) handOver(slot int, now time.Duration) {
	if first := q.waiting.Front(); first != nil {
		q.starts[slot] = now
		q.waiting.Remove(first).(chan int) <- slot
		return
	}
	q.starts[slot] = notInUse
	q.free = append(q.free, slot)
}

// acquireBytes waits until a read of n bytes may be in flight, and then for a slot.
func (q *queue) acquireBytes(ctx context.Context, n int64) (slot int, err error) {
	if err := q.bytes.Acquire(ctx, min(n, q.most)); err != nil {
		return 0, err
	}
	if slot, err = q.acquire(ctx); err != nil {
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
	return len(q.starts) - len(q.free)
}

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
		Reads:        q.reads.answers(now),
		Lookups:      q.lookups.answers(now),
		Bytes:        q.reads.bytes,
		Depth:        len(q.starts),
		InFlight:     len(q.starts) - len(q.free),
		MostInFlight: q.mostInFlight,
		LongestWait:  now - oldest,
		Late:         q.remote || q.reads.lateness.late(),
	}
}
