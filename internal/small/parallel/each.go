package parallel

import (
	"iter"
	"slices"
)

// Lookups is the number of directories or files that are looked up at a time. A file server answers that many in
// about the time of one. On a local disk it makes no difference.
const Lookups = 64

// Each yields the result of f for each item, in the order of the items. Up to [Lookups] calls of f are in progress at
// a time, each in its own goroutine. If the caller stops early, the results of some calls are lost. A panic of f
// becomes a panic of the caller.
func Each[T, R any](items []T, f func(T) R) iter.Seq2[T, R] {
	if len(items) == 1 { // it needs no goroutine
		return func(yield func(T, R) bool) { yield(items[0], f(items[0])) }
	}
	return EachOf(slices.Values(items), f)
}

// EachOf is [Each] for items that are produced while the calls are in progress, in a goroutine of its own. At most
// some more than [Lookups] items exist at a time. A panic of items becomes a panic of the caller, too.
func EachOf[T, R any](items iter.Seq[T], f func(T) R) iter.Seq2[T, R] {
	return func(yield func(T, R) bool) {
		type answer struct {
			item   T
			result R
		}
		for a := range InOrder(items, Lookups, func(item T) answer { return answer{item, f(item)} }) {
			if !yield(a.item, a.result) {
				return
			}
		}
	}
}
