// Package lru keeps the most recently used values within a budget.
//
// A [Cache] has no lock: its owner serialises all calls, and usually has a lock already.
package lru

import "iter"

// Cache maps keys to values, each with a cost. The sum of all costs stays within the budget, except that the most
// recently used entry always stays, however large it is.
type Cache[K comparable, V any] struct {
	budget, cost int64
	entries      map[K]*entry[K, V]
	ends         entry[K, V] // of the ring in order of use: next is the most recently used entry, prev the least
}

type entry[K comparable, V any] struct {
	key        K
	value      V
	cost       int64
	prev, next *entry[K, V]
}

// New returns an empty cache with a budget, in the unit of the costs that Put is given.
func New[K comparable, V any](budget int64) *Cache[K, V] {
	c := &Cache[K, V]{budget: budget, entries: map[K]*entry[K, V]{}}
	c.ends.prev, c.ends.next = &c.ends, &c.ends
	return c
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Cost returns the sum of the costs of all entries.
func (c *Cache[K, V]) Cost() int64 { return c.cost }

// Get returns the value of a key, which becomes the most recently used entry.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	e.unlink()
	c.pushFront(e)
	return e.value, true
}

// Values yields all values, the most recently used first. The cache must not change meanwhile.
func (c *Cache[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for e := c.ends.next; e != &c.ends; e = e.next {
			if !yield(e.value) {
				return
			}
		}
	}
}

// Put stores a value under a key, with a cost of 0 or more. It replaces the value and the cost that the key had. The
// entry becomes the most recently used one. Put returns the values that it evicted to stay within the budget, the
// least recently used first. A replaced value is not one of them.
func (c *Cache[K, V]) Put(key K, value V, cost int64) (evicted []V) {
	c.Remove(key)
	e := &entry[K, V]{key: key, value: value, cost: cost}
	c.entries[key] = e
	c.pushFront(e)
	c.cost += cost
	return c.evict()
}

// Resize sets the budget. Like Put, it returns the values that it evicted.
func (c *Cache[K, V]) Resize(budget int64) (evicted []V) {
	c.budget = budget
	return c.evict()
}

func (c *Cache[K, V]) evict() (evicted []V) {
	for c.cost > c.budget && len(c.entries) > 1 {
		oldest, _ := c.RemoveOldest()
		evicted = append(evicted, oldest)
	}
	return evicted
}

// Remove removes a key and returns its value. ok is false if the cache does not have the key.
func (c *Cache[K, V]) Remove(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	delete(c.entries, key)
	e.unlink()
	c.cost -= e.cost
	return e.value, true
}

// RemoveOldest removes the least recently used entry and returns its value. ok is false if the cache is empty.
func (c *Cache[K, V]) RemoveOldest() (value V, ok bool) {
	if len(c.entries) == 0 {
		return value, false
	}
	return c.Remove(c.ends.prev.key)
}

func (c *Cache[K, V]) pushFront(e *entry[K, V]) {
	e.prev, e.next = &c.ends, c.ends.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry[K, V]) unlink() { e.prev.next, e.next.prev = e.next, e.prev }
