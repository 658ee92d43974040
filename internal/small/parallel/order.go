package parallel

import (
	"iter"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// InOrder calls f for the items and yields the results in the order of the items. Up to n calls are in progress or have
// a result that was not yielded yet. n is at least 1. InOrder calls f in several goroutines, and iterates over the
// items in a goroutine of its own. A panic of f or of items becomes a panic of the caller, when no call is in progress.
func InOrder[In, Out any](items iter.Seq[In], n int, f func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		var group sync.WaitGroup
		var relay guard.Relay
		defer relay.Repeat()
		defer group.Wait()
		started, stop := make(chan chan Out, n-1), make(chan struct{})
		defer close(stop)
		group.Go(relay.Func("parallel.items", func() {
			defer close(started)
			guard.Pass("parallel.items")
			for item := range items {
				result := make(chan Out, 1)
				select {
				case started <- result:
				case <-stop:
					return
				}
				group.Go(relay.Func("parallel.call", func() {
					defer close(result)
					guard.Pass("parallel.call")
					result <- f(item)
				}))
			}
		}))
		for result := range started {
			r, ok := <-result
			if !ok || !yield(r) { // f has panicked, or the caller stops
				return
			}
		}
	}
}
