package parallel

import (
	"iter"
	"sync"
)

// InOrder calls f for the items, up to n at a time and that many ahead, and yields the results in the order of the
// items. f is called by several goroutines, and the items come from another one than the caller's. n is at least 1.
func InOrder[In, Out any](items iter.Seq[In], n int, f func(In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		var all sync.WaitGroup
		defer all.Wait()
		begun, stop := make(chan chan Out, n-1), make(chan struct{})
		defer close(stop)
		all.Go(func() {
			defer close(begun)
			for item := range items {
				result := make(chan Out, 1)
				select {
				case begun <- result:
				case <-stop:
					return
				}
				all.Go(func() { result <- f(item) })
			}
		})
		for result := range begun {
			if !yield(<-result) {
				return
			}
		}
	}
}
