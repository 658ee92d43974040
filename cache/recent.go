package cache

import (
	"container/heap"
	"sync"
	"sync/atomic"
)

// recentList keeps the blocks that were used last. It has a reference to each of their entries.
//
// The order of use is exact to one insertion, and it matters only at insertions. The clock ticks when a block enters. A
// hit stamps its entry with the clock. The recent list evicts an entry with the oldest stamp. The queue takes notice of
// a hit only when the entry is at its head. So hits share no lock, and most of them write nothing here.
type recentList struct {
	capacity int64       // bytes
	borrower *recentList // uses bytes of the capacity, too; may be nil
	clock    atomic.Uint64

	// onEvict takes over evicted entries and the references to them. It may overwrite the slice.
	onEvict func([]*entry)

	mu       sync.Mutex // protects what follows; held while onEvict runs, not taken by hits
	queue    queue
	evicted  []*entry     // empty; its memory is used again
	used     atomic.Int64 // bytes; written under mu
	reserved atomic.Int64 // bytes of the capacity that are reserved for holds; become more under mu
	lent     int64        // bytes of the capacity that this list may not use: see Cache.divide
}

// stamps are the two times of an entry, in ticks of the clock of its list.
type stamps struct {
	used   atomic.Uint64 // time of the last use
	queued uint64        // position in the queue, not after used
}

// touch records a use of an entry.
func (l *recentList) touch(e *entry) {
	// Storing the same value again would take the cache line from all other cores that hit this block.
	if now := l.clock.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
}

// add takes over entries, and a reference to each, as those used last. It returns the entries for which there is no
// room.
func (l *recentList) add(entries []*entry) (rest []*entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, cost := 0, int64(0)
	for room := l.room(); n < len(entries) && cost+entries[n].cost() <= room; n++ {
		cost += entries[n].cost()
	}
	l.makeRoom(cost)
	for _, e := range entries[:n] {
		e.queued = l.clock.Add(1)
		e.used.Store(e.queued)
		heap.Push(&l.queue, e)
	}
	l.used.Add(cost)
	return entries[n:]
}

// room returns the bytes of the capacity that are not reserved or lent. It is called with mu held.
func (l *recentList) room() int64 {
	room := l.capacity - l.reserved.Load() - l.lent
	if l.borrower != nil {
		room -= l.borrower.used.Load()
	}
	return room
}

// makeRoom evicts entries until there is room for cost more bytes. It is called with mu held.
func (l *recentList) makeRoom(cost int64) {
	evicted := l.evicted
	used := l.used.Load()
	for used > 0 && used+cost > l.room() {
		e := l.queue.popOldest()
		used -= e.cost()
		evicted = append(evicted, e)
	}
	if len(evicted) == 0 {
		return
	}
	l.used.Store(used)
	l.onEvict(evicted)
	clear(evicted)
	l.evicted = evicted[:0]
}

// reserve takes n bytes of the capacity. It returns false if more than 5/8 of the capacity would be reserved.
func (l *recentList) reserve(n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 0 || n > forHolds(l.capacity)-l.reserved.Load() {
		return false
	}
	l.reserved.Add(n)
	l.makeRoom(0)
	return true
}

// setLent sets the bytes of the capacity that this list may not use.
func (l *recentList) setLent(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent = n
	l.makeRoom(0)
}

// clear removes and returns all entries. The recent list keeps nothing afterwards.
func (l *recentList) clear() []*entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.queue
	l.queue, l.capacity = nil, 0
	l.used.Store(0)
	return all
}

// queue is a heap of entries. The entry that was queued first is at index 0.
type queue []*entry

// popOldest removes and returns the entry that was used longest ago. The queue must not be empty.
func (q *queue) popOldest() *entry {
	for {
		head := (*q)[0]
		used := head.used.Load()
		if used == head.queued {
			return heap.Pop(q).(*entry)
		}
		head.queued = used
		heap.Fix(q, 0)
	}
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].queued < q[j].queued }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)        { *q = append(*q, e.(*entry)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil // or the array would keep the block alive
	*q = (*q)[:last]
	return e
}
