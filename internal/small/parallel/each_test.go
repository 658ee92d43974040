package parallel

import (
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestEach checks that results keep their order and that up to Lookups calls run at a time.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var items []int
		for i := range 3*Lookups - 5 {
			items = append(items, i)
		}
		var running, most atomic.Int32
		start := time.Now()
		var got []int
		for i, square := range Each(items, func(i int) int {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return i * i
		}) {
			if square != i*i {
				t.Errorf("%d: %d", i, square)
			}
			got = append(got, i)
		}
		if !slices.Equal(got, items) {
			t.Errorf("got %v", got)
		}
		if took := time.Since(start); took != 3*time.Second || most.Load() != Lookups {
			t.Errorf("took %v with %d calls at a time, expected 3s with %d", took, most.Load(), Lookups)
		}
	})
}

// TestEachStopsEarly checks that no calls are made long after the caller stopped.
func TestEachStopsEarly(t *testing.T) {
	var calls atomic.Int32
	for i := range Each(make([]int, 10*Lookups), func(int) int { return int(calls.Add(1)) }) {
		if i != 0 {
			t.Fatal(i)
		}
		break
	}
	if n := calls.Load(); n > Lookups+2 {
		t.Errorf("%d calls, expected up to %d", n, Lookups)
	}
}

// TestEachOf checks that items are produced while calls are in progress, that results keep their order, and that panics
// of the items and of the calls reach the caller.
func TestEachOf(t *testing.T) {
	produced, next := 0, 0
	items := func(yield func(int) bool) {
		for i := range 10_000 {
			if produced++; !yield(i) {
				return
			}
		}
	}
	for i, square := range EachOf(items, func(i int) int { return i * i }) {
		if i != next || square != i*i {
			t.Fatalf("got %d, %d, want %d", i, square, next)
		}
		next++
	}
	if next != 10_000 {
		t.Errorf("%d results", next)
	}
	produced = 0
	for range EachOf(items, func(i int) int { return i }) {
		break
	}
	if produced > 2*Lookups+2 {
		t.Errorf("%d items were produced for one", produced)
	}
	for what, sequence := range map[string]iter.Seq2[int, int]{
		"items": EachOf(func(yield func(int) bool) { yield(1); panic("broken") }, func(i int) int { return i }),
		"calls": EachOf(items, func(int) int { panic("broken") }),
	} {
		func() {
			defer func() {
				if p := guard.Recovered("test", recover()); p.Value != "broken" {
					t.Errorf("%s: the panic is %v", what, p)
				}
			}()
			for range sequence {
			}
			t.Errorf("%s: no panic", what)
		}()
	}
}
