package store

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
)

// TestQueueOrder: those that wait get a slot in the order in which they came.
func TestQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(Options{Depth: 1})
		held, err := q.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var served []int
		for i := range 10 {
			go func() {
				slot, _ := q.enter(t.Context())
				served = append(served, i)
				q.leave(slot, &q.reads, 1, true)
			}()
			synctest.Wait()
		}
		q.leave(held, &q.reads, 1, true)
		synctest.Wait()
		if len(served) != 10 || !slices.IsSorted(served) {
			t.Errorf("served %v", served)
		}
	})
}

// TestQueueGivenUp gives a slot to one that goes away: it is not lost.
func TestQueueGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(Options{Depth: 1})
		for range 1000 {
			slot, err := q.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if slot, err := q.enter(ctx); err == nil {
					q.leave(slot, &q.looks, 0, true)
				}
			}()
			synctest.Wait()
			cancel()
			q.leave(slot, &q.looks, 0, true) // mostly before the other one runs
			synctest.Wait()
			if s := q.stats(); s.InFlight != 0 || q.waiting.Len() != 0 {
				t.Fatalf("a slot was lost: %+v", s)
			}
		}
	})
}
