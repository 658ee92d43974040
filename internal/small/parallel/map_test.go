package parallel

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestMap: late calls run at the same time, after a while, and quick ones in the goroutine of the caller. Results
// have the order of the items.
func TestMap(t *testing.T) {
	for _, c := range []struct {
		items      int
		each, took time.Duration
		most       int32
	}{
		{0, time.Second, 0, 0},
		{1, time.Second, time.Second, 1},
		{2, time.Second, time.Second + Alone, 2},
		{Lookups, time.Second, time.Second + Alone, Lookups},
		{2*Lookups + 1, time.Second, 3 * time.Second, Lookups},
		{500, 0, 0, 1},
		{50, time.Microsecond, 50 * time.Microsecond, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var calls callCounter
			items := slices.Collect(upTo(c.items))
			start := time.Now()
			got := Map(items, func(i int) int { calls.call(c.each); return i * i })
			if took := time.Since(start); took != c.took || calls.most.Load() != c.most {
				t.Errorf("%d items of %v: took %v with %d calls at a time, expected %v and %d", c.items, c.each, took,
					calls.most.Load(), c.took, c.most)
			}
			for i := range got {
				if got[i] != i*i {
					t.Errorf("result %d is %d", i, got[i])
				}
			}
			if len(got) != c.items {
				t.Errorf("%d results of %d", len(got), c.items)
			}
		})
	}
}

// TestMapPanics: a panic reaches the caller when no call is in progress any more.
func TestMapPanics(t *testing.T) {
	for _, bad := range []int{0, 30} {
		synctest.Test(t, func(t *testing.T) {
			var calls callCounter
			defer func() {
				if p := guard.Recovered("test", recover()); p.Value != "broken" || calls.running.Load() != 0 {
					t.Errorf("item %d: got %v, and %d calls run", bad, p, calls.running.Load())
				}
			}()
			Map(slices.Collect(upTo(40)), func(i int) int {
				if i == bad {
					panic("broken")
				}
				calls.call(time.Second)
				return i
			})
		})
	}
}
