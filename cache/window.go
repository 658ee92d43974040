package cache

import (
	"container/heap"
	"sync"
	"sync/atomic"
)

// window keeps the blocks that were used last: it has a reference to each.
//
// The order of use is exact in steps of one insertion, which is when it matters: the
// clock ticks when a block enters, a hit stamps its entry with the clock, and what
// goes out is an entry with the oldest stamp. The queue learns of a hit only when
// the entry gets to its head. So a hit needs no lock that all hits share, and most
// of them write nothing here.
type window struct {
	capacity int64 // bytes
	clock    atomic.Uint64

	// leave takes over the entries that leave, and the references to them. It may overwrite the slice.
	leave func([]*entry)

	mu       sync.Mutex // for what follows; held over leave, not by hits
	queue    queue
	leaving  []*entry     // empty: its memory is used again
	used     atomic.Int64 // bytes; written under mu
	reserved atomic.Int64 // bytes of the capacity that holds use; written under mu
	lent     int64        // and that another window uses
}

// stamps are the two times of an entry, in ticks of the window's clock.
type stamps struct {
	used   atomic.Uint64 // when it was used last
	queued uint64        // its place in the queue; not after used
}

// touch records a use of an entry.
func (w *window) touch(e *entry) {
	// The store would take the cache line from all other cores that hit this block.
	if now := w.clock.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
}

// add takes over entries with a reference to each, which are now the blocks used last. It returns those that it has
// no room for.
func (w *window) add(entries []*entry) (rest []*entry) {
	if len(entries) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n, cost := 0, int64(0)
	for room := w.room(); n < len(entries) && cost+entries[n].cost() <= room; n++ {
		cost += entries[n].cost()
	}
	w.makeRoom(cost)
	for _, e := range entries[:n] {
		e.queued = w.clock.Add(1)
		e.used.Store(e.queued)
		heap.Push(&w.queue, e)
	}
	w.used.Add(cost)
	return entries[n:]
}

// room returns the bytes of the capacity that are not reserved or lent. It is called with mu held.
func (w *window) room() int64 { return w.capacity - w.reserved.Load() - w.lent }

// makeRoom evicts entries until cost bytes are free. It is called with mu held.
func (w *window) makeRoom(cost int64) {
	leaving := w.leaving
	used := w.used.Load()
	for used > 0 && used+cost > w.room() {
		e := w.queue.popOldest()
		used -= e.cost()
		leaving = append(leaving, e)
	}
	if len(leaving) == 0 {
		return
	}
	w.used.Store(used)
	w.leave(leaving)
	clear(leaving)
	w.leaving = leaving[:0]
}

// reservable returns how many bytes of the capacity can be reserved.
func (w *window) reservable() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.capacity * 5 / 8
}

// reserve takes n bytes of the capacity, if no more than 5/8 of it are taken then.
func (w *window) reserve(n int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n < 0 || n > w.capacity*5/8-w.reserved.Load() {
		return false
	}
	w.reserved.Add(n)
	w.makeRoom(0)
	return true
}

// unreserve gives back what reserve took.
func (w *window) unreserve(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reserved.Add(-n)
}

// lend leaves n bytes of the capacity to another window.
func (w *window) lend(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lent = n
	w.makeRoom(0)
}

// clear returns all entries, and keeps none from now on.
func (w *window) clear() []*entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.queue
	w.queue, w.capacity = nil, 0
	w.used.Store(0)
	return all
}

// queue is a heap of entries: the one queued first is at index 0.
type queue []*entry

// popOldest removes and returns the entry that was used longest ago. The queue
// must not be empty.
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
