package parallel

import (
	"iter"
	"sync"
)

// InOrder calls f for the items and yields the results in the order of the items. Up to n calls are in progress or
// have a result that was not yielded yet. n is at least 1. InOrder calls f in several goroutines, and iterates over
// the items in a goroutine of its own.
func InOrder[In, Out any](items iter.Seq[In], n int, f func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		var group sync.WaitGroup
		defer group.Wait()
		started, stop := make(chan chan Out, n-1), make(chan struct{})
		defer close(stop)
		group.Go(func() {
			defer close(started)
			for item := range items {
				result := make(chan Out, 1)
				select {
				case started <- result:
				case <-stop:
					return
				}
				group.Go(func() { result <- f(item) })
			}
		})
		for result := range started {
			if !yield(<-result) {
				return
			}
		}
	}
}
