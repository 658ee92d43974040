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
		held, err := q.acquire(t.Context(), &q.reads)
		if err != nil {
			t.Fatal(err)
		}
		var served []int
		for i := range 10 {
			go func() {
				slot, _ := q.acquire(t.Context(), &q.reads)
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

// TestQueueCanceled: a slot is not lost if it is given to a request that is canceled at the same time.
func TestQueueCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(Options{Depth: 1})
		for range 1000 {
			slot, err := q.acquire(t.Context(), &q.lookups)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if slot, err := q.acquire(ctx, &q.lookups); err == nil {
					q.release(slot, &q.lookups, 0, true)
				}
			}()
			synctest.Wait()
			cancel()
			q.release(slot, &q.lookups, 0, true) // usually before the other goroutine runs
			synctest.Wait()
			if s := q.stats(); s.InFlight != 0 || q.lookups.waiting.Len() != 0 {
				t.Fatalf("a slot was lost: %+v", s)
			}
		}
	})
}

// TestKindsDoNotWait: reads without an answer leave slots to lookups, and lookups leave some to reads.
func TestKindsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(Options{Depth: 2})
		for _, kinds := range [][2]*meter{{&q.reads, &q.lookups}, {&q.lookups, &q.reads}} {
			var slots [2]int
			for i := range slots {
				slots[i], _ = q.acquire(t.Context(), kinds[0])
			}
			slot, err := q.acquire(t.Context(), kinds[1]) // would wait for ever, which ends the test
			if s := q.stats(); err != nil || s.InFlight != 3 || s.Depth != 2 {
				t.Errorf("got %v, %+v", err, s)
			}
			q.release(slot, kinds[1], 0, true)
			for _, slot := range slots {
				q.release(slot, kinds[0], 0, true)
			}
		}
	})
}
