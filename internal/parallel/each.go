package parallel

import (
	"iter"
	"slices"
)

// Looks is how many directories or files are looked at at a time. A file server answers so many in about the time of one. On
// a local disk it makes no difference.
const Looks = 64

// Each yields the result of look for each of the items, in their order. Up to Looks calls of look are under way at a time, each
// in a goroutine of its own; they have ended when Each returns. If the caller stops early, some calls were for nothing. A panic of
// look becomes one of the caller.
func Each[T, R any](items []T, look func(T) R) iter.Seq2[T, R] {
	return func(yield func(T, R) bool) {
		if len(items) == 1 { // it needs no goroutine
			yield(items[0], look(items[0]))
			return
		}
		type answer struct {
			result   R
			panicked any
		}
		i := 0
		for a := range InOrder(slices.Values(items), Looks, func(item T) (a answer) {
			defer func() { a.panicked = recover() }()
			a.result = look(item)
			return a
		}) {
			if a.panicked != nil {
				panic(a.panicked)
			}
			if !yield(items[i], a.result) {
				return
			}
			i++
		}
	}
}
