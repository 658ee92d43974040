package parallel

import (
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// busy counts calls that are under way.
type busy struct{ now, most atomic.Int32 }

func (b *busy) call(took time.Duration) {
	n := b.now.Add(1)
	for m := b.most.Load(); n > m && !b.most.CompareAndSwap(m, n); m = b.most.Load() {
	}
	time.Sleep(took)
	b.now.Add(-1)
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

// TestInOrder: results come in order, whichever call ends first; so many calls are under way as is said.
func TestInOrder(t *testing.T) {
	for _, n := range []int{1, 2, 7, 64} {
		synctest.Test(t, func(t *testing.T) {
			var b busy
			start, next := time.Now(), 0
			for got := range InOrder(upTo(100), n, func(i int) int { b.call(time.Duration(1+i%3) * time.Second); return i }) {
				if got != next {
					t.Fatalf("%d at a time: got %d, want %d", n, got, next)
				}
				next++
			}
			if next != 100 || int(b.most.Load()) != n {
				t.Errorf("%d at a time: %d results, %d calls at a time", n, next, b.most.Load())
			}
			if took := time.Since(start); took > 3*time.Second*time.Duration(100/n+1) {
				t.Errorf("%d at a time: it took %v", n, took)
			}
		})
	}
}

// TestInOrderEnds: who takes no more results leaves nothing behind, and the items end.
func TestInOrderEnds(t *testing.T) {
	for n := range 10 {
		synctest.Test(t, func(t *testing.T) {
			var b busy
			ended := false
			items := func(yield func(int) bool) {
				for i := range 1000 {
					if !yield(i) {
						break
					}
				}
				ended = true
			}
			for got := range InOrder(items, 4, func(i int) int { b.call(time.Second); return i }) {
				if got == n {
					break
				}
			}
			if b.now.Load() != 0 || !ended {
				t.Errorf("after %d: %d calls go on; the items have ended: %v", n, b.now.Load(), ended)
			}
		})
	}
}

// TestDrain: there are few calls at a time, and many while the source answers late; nothing is lost.
func TestDrain(t *testing.T) {
	for _, test := range []struct {
		name      string
		few, many int
		late      func(since time.Duration) bool
		most      int32
		took      time.Duration // of 1000 calls of a second
	}{
		{"prompt", 2, 64, func(time.Duration) bool { return false }, 2, 500 * time.Second},
		{"late", 2, 64, func(time.Duration) bool { return true }, 64, 17 * time.Second},
		{"late after a while", 2, 64, func(since time.Duration) bool { return since >= 100*time.Second }, 64, 114 * time.Second},
		{"prompt after a while", 2, 64, func(since time.Duration) bool { return since < 3*time.Second }, 64, 0},
		{"no more than few", 5, 3, func(time.Duration) bool { return true }, 5, 200 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b busy
				var done atomic.Int32
				start, items := time.Now(), make(chan int)
				go func() {
					defer close(items)
					for i := range 1000 {
						items <- i
					}
				}()
				late := func() bool { return test.late(time.Since(start)) }
				Drain(items, test.few, test.many, late, func(int) { b.call(time.Second); done.Add(1) })
				took := time.Since(start)
				if done.Load() != 1000 || b.most.Load() != test.most || test.took > 0 && (took < test.took-2*time.Second || took > test.took+2*time.Second) {
					t.Errorf("%d calls, up to %d at a time, in %v; want 1000, %d, %v", done.Load(), b.most.Load(), took, test.most, test.took)
				}
			})
		})
	}
}
