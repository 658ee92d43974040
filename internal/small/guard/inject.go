package guard

import "sync/atomic"

var injected atomic.Pointer[func(place string)]

// Pass marks a place where tests inject a panic. Each boundary has one behind it, with its name: in the work itself,
// where its locks are held, and after the calls are deferred that give back what it has.
func Pass(place string) {
	if f := injected.Load(); f != nil {
		(*f)(place)
	}
}

// Inject calls f at each place that a goroutine passes, in that goroutine, until restore is called. f may panic. Only
// tests and the program that is built for tests call it.
func Inject(f func(place string)) (restore func()) {
	before := injected.Swap(&f)
	return func() { injected.Store(before) }
}
