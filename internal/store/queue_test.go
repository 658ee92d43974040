package store

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// TestQueueOrder: waiting requests get a slot in the order of their arrival.
func TestQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(Options{Depth: 1})
		held, err := q.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var served []int
		for i := range 10 {
			go func() {
				slot, _ := q.acquire(t.Context())
				served = append(served, i)
				q.release(slot, &q.reads, 1, true)
			}()
			synctest.Wait()
		}
		q.release(held, &q.reads, 1, true)
		synctest.Wait()
		if len(served) != 10 || !slices.IsSorted(served) {
			t.Errorf("served %v", served)
		}
	})
}

// TestQueueCancelled: a slot is not lost if it is given to a request that is cancelled at the same time.
func TestQueueCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(Options{Depth: 1})
		for range 1000 {
			slot, err := q.acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if slot, err := q.acquire(ctx); err == nil {
					q.release(slot, &q.lookups, 0, true)
				}
			}()
			synctest.Wait()
			cancel()
			q.release(slot, &q.lookups, 0, true) // usually before the other goroutine runs
			synctest.Wait()
			if s := q.stats(); s.InFlight != 0 || q.waiting.Len() != 0 {
				t.Fatalf("a slot was lost: %+v", s)
			}
		}
	})
}
