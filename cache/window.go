package cache

import (
	"container/heap"
	"sync"
	"sync/atomic"
)

// window keeps the blocks that were used last.
//
// The order of use is exact in steps of one insertion, which is when it matters: the
// clock ticks when a block comes in, a hit stamps its entry with the clock, and what
// goes out is an entry with the oldest stamp. The queue learns of a hit only when
// the entry gets to its head. So a hit needs no lock that all hits share, and most
// of them write nothing at all.
type window struct {
	index    index
	capacity int64 // bytes
	clock    atomic.Uint64

	// offer is handed the entries that leave, before they cease to be found here:
	// a block on its way to the next part is never in neither.
	offer func([]*entry)

	mu       sync.Mutex // for what follows; held over offer, not by hits
	queue    queue
	used     atomic.Int64 // bytes; written under mu
	reserved atomic.Int64 // bytes of the capacity that others use; written under mu
}

// stamps are the two times of an entry, in ticks of the window's clock.
type stamps struct {
	used   atomic.Uint64 // when it was used last
	queued uint64        // its place in the queue; not after used
}

// get returns the entry of k, or nil.
func (w *window) get(h uint64, k key) *entry {
	e := w.index.get(h, k)
	if e == nil {
		return nil
	}
	// The store would take the cache line from all other cores that hit this block.
	if now := w.clock.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
	return e
}

// add keeps entries, which are now the blocks used last; those that are more than the window
// has room for it does not keep.
func (w *window) add(entries ...*entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, cost := 0, int64(0)
	for room := w.capacity - w.reserved.Load(); n < len(entries) && cost+entries[n].cost() <= room; n++ {
		cost += entries[n].cost()
	}
	w.makeRoom(cost)
	for _, e := range entries[:n] {
		e.queued = w.clock.Add(1)
		e.used.Store(e.queued)
		if w.index.put(e) {
			heap.Push(&w.queue, e)
			w.used.Add(e.cost())
		}
	}
}

// makeRoom lets entries go until cost bytes are free. It is called with mu held.
func (w *window) makeRoom(cost int64) {
	var leaving []*entry
	used := w.used.Load()
	for used+cost > w.capacity-w.reserved.Load() {
		e := w.queue.popOldest()
		used -= e.cost()
		leaving = append(leaving, e)
	}
	if len(leaving) == 0 {
		return
	}
	w.offer(leaving)
	for _, e := range leaving {
		w.index.remove(e)
	}
	w.used.Store(used)
}

// reserve takes n bytes of the capacity, if no more than limit of it are taken then.
func (w *window) reserve(n, limit int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n < 0 || n > limit-w.reserved.Load() {
		return false
	}
	w.reserved.Add(n)
	w.makeRoom(0)
	return true
}

// release gives back what reserve took.
func (w *window) release(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reserved.Add(-n)
}

// clear forgets everything.
func (w *window) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.index.clear()
	w.queue = nil
	w.used.Store(0)
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
