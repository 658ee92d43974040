// Package parallel asks many questions at once, for those who would otherwise wait for one answer after the other.
package parallel

import (
	"iter"
	"sync"
)

// Looks is how many directories or files are looked at at once. A file server answers so many in about the time of one. On
// a local disk it makes no difference.
const Looks = 64

// Each yields the result of look for each of the items, in their order. Up to Looks calls of look are under way at once, each
// in a goroutine of its own; they have ended when Each returns. If the caller stops early, some calls were for nothing. A panic of
// look becomes one of the caller.
func Each[T, R any](items []T, look func(T) R) iter.Seq2[T, R] {
	return func(yield func(T, R) bool) {
		results := make([]R, min(len(items), Looks))
		for len(items) > 0 {
			n := min(len(items), Looks)
			var group sync.WaitGroup
			panics := make([]any, n)
			call := func(i int) {
				defer func() { panics[i] = recover() }()
				results[i] = look(items[i])
			}
			for i := range n - 1 {
				group.Go(func() { call(i) })
			}
			call(n - 1) // a single item needs no goroutine
			group.Wait()
			for _, p := range panics {
				if p != nil {
					panic(p)
				}
			}
			for i, item := range items[:n] {
				if !yield(item, results[i]) {
					return
				}
			}
			items = items[n:]
		}
	}
}
