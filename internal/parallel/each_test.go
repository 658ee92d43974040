package parallel

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestEach: results come in order, and Looks calls wait together.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var items []int
		for i := range 3*Looks - 5 {
			items = append(items, i)
		}
		var now, most atomic.Int32
		start := time.Now()
		var got []int
		for i, square := range Each(items, func(i int) int {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
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
		if took := time.Since(start); took != 3*time.Second || most.Load() != Looks {
			t.Errorf("it took %v with %d at once, expected 3 s with %d", took, most.Load(), Looks)
		}
	})
}

// TestEachEnds: a caller that stops leaves nothing behind.
func TestEachEnds(t *testing.T) {
	var calls atomic.Int32
	for i := range Each(make([]int, 10*Looks), func(int) int { return int(calls.Add(1)) }) {
		if i != 0 {
			t.Fatal(i)
		}
		break
	}
	if n := calls.Load(); n > Looks+2 {
		t.Errorf("%d calls, expected up to %d", n, Looks)
	}
}
