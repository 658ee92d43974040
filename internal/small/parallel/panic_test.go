package parallel

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// TestPanics injects a panic into each goroutine of the package. It reaches the caller when no call is in progress.
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		place string
		run   func(f func(int) int)
	}{
		{"parallel.items", func(f func(int) int) { _ = slices.Collect(InOrder(upTo(100), 4, f)) }},
		{"parallel.call", func(f func(int) int) { _ = slices.Collect(InOrder(upTo(100), 4, f)) }},
		{"parallel.map", func(f func(int) int) { Map(slices.Collect(upTo(100)), f) }},
		{"parallel.late", func(f func(int) int) { Map(slices.Collect(upTo(100)), f) }},
		{"parallel.drain", func(f func(int) int) { drain(func() bool { return false }, f) }},
		{"parallel.extra", func(f func(int) int) { drain(func() bool { return true }, f) }},
	} {
		for nth := range int32(3) {
			t.Run(c.place, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var passed atomic.Int32
					defer guard.Inject(func(place string) {
						if place == c.place && passed.Add(1) == min(nth+1, atLeast[place]) {
							panic("injected")
						}
					})()
					var calls callCounter
					err := guard.Do("test", func() error {
						c.run(func(i int) int { calls.call(time.Second); return i })
						return nil
					})
					e, ok := errors.AsType[*guard.Error](err)
					if !ok || e.Place != c.place || e.Value != "injected" || calls.running.Load() != 0 {
						t.Errorf("got %v, and %d calls run", err, calls.running.Load())
					}
				})
			})
		}
	}
}

// atLeast is how often a call passes a place, at least.
var atLeast = map[string]int32{"parallel.items": 1, "parallel.late": 1, "parallel.call": 3, "parallel.map": 3,
	"parallel.drain": 3, "parallel.extra": 3}

// drain sends a hundred items to calls of f, and ends when all have been received.
func drain(late func() bool, f func(int) int) {
	items := make(chan int)
	go func() {
		defer close(items)
		for i := range 100 {
			items <- i
		}
	}()
	Drain(items, 2, 8, late, func(i int) { f(i) })
}
