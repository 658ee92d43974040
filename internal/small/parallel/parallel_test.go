package parallel

import (
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// callCounter counts the calls in progress.
type callCounter struct{ running, most atomic.Int32 }

// call takes d.
func (c *callCounter) call(d time.Duration) {
	n := c.running.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	time.Sleep(d)
	c.running.Add(-1)
}

func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestInOrder checks that results keep the order of the items, whichever call ends first, and that n calls run at a
// time.
func TestInOrder(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64} {
		synctest.Test(t, func(t *testing.T) {
			var calls callCounter
			start, next := time.Now(), 0
			for got := range InOrder(upTo(100), n,
				func(i int) int { calls.call(time.Duration(1+i%3) * time.Second); return i }) {
				if got != next {
					t.Fatalf("%d at a time: got %d, want %d", n, got, next)
				}
				next++
			}
			if next != 100 || int(calls.most.Load()) != n {
				t.Errorf("%d at a time: %d results, %d calls at a time", n, next, calls.most.Load())
			}
			if took := time.Since(start); took > 3*time.Second*time.Duration(100/n+1) {
				t.Errorf("%d at a time: it took %v", n, took)
			}
		})
	}
}

// TestInOrderStopsEarly checks that no call runs after the caller stopped, and that the iteration over the items has
// ended.
func TestInOrderStopsEarly(t *testing.T) {
	for n := range 10 {
		synctest.Test(t, func(t *testing.T) {
			var calls callCounter
			itemsEnded := false
			items := func(yield func(int) bool) {
				for i := range 1000 {
					if !yield(i) {
						break
					}
				}
				itemsEnded = true
			}
			for got := range InOrder(items, 4, func(i int) int { calls.call(time.Second); return i }) {
				if got == n {
					break
				}
			}
			if calls.running.Load() != 0 || !itemsEnded {
				t.Errorf("stopped after %d: %d calls still run; the iteration over the items ended: %v", n,
					calls.running.Load(), itemsEnded)
			}
		})
	}
}

// TestDrain checks that few calls run at a time, many while the source answers late, and that no item is lost.
func TestDrain(t *testing.T) {
	for _, test := range []struct {
		name      string
		few, many int
		late      func(since time.Duration) bool
		most      int32
		took      time.Duration // of 1000 calls of a second
	}{
		{"fast", 2, 64, func(time.Duration) bool { return false }, 2, 500 * time.Second},
		{"late", 2, 64, func(time.Duration) bool { return true }, 64, 17 * time.Second},
		{"late after a while", 2, 64, func(since time.Duration) bool { return since >= 100*time.Second }, 64,
			114 * time.Second},
		{"fast after a while", 2, 64, func(since time.Duration) bool { return since < 3*time.Second }, 64, 0},
		{"many is less than few", 5, 3, func(time.Duration) bool { return true }, 5, 200 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls callCounter
				var done atomic.Int32
				start, items := time.Now(), make(chan int)
				go func() {
					defer close(items)
					for i := range 1000 {
						items <- i
					}
				}()
				late := func() bool { return test.late(time.Since(start)) }
				Drain(items, test.few, test.many, late, func(int) { calls.call(time.Second); done.Add(1) })
				took := time.Since(start)
				if done.Load() != 1000 || calls.most.Load() != test.most ||
					test.took > 0 && (took < test.took-2*time.Second || took > test.took+2*time.Second) {
					t.Errorf("%d calls, up to %d at a time, in %v; want 1000, %d, %v", done.Load(), calls.most.Load(),
						took, test.most, test.took)
				}
			})
		})
	}
}
