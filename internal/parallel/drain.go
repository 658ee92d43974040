package parallel

import (
	"sync"
	"sync/atomic"
)

// Drain calls work for each item of a channel. It makes up to few calls at a time, and up to many while late reports
// true. It returns when the channel is closed and all calls have returned.
func Drain[T any](items <-chan T, few, many int, late func() bool, work func(T)) {
	var workers sync.WaitGroup
	var extra atomic.Int32 // workers beyond few
	var runExtra func()
	do := func(item T) {
		switch {
		case !late():
		case few+int(extra.Add(1)) <= many:
			workers.Go(runExtra)
		default:
			extra.Add(-1)
		}
		work(item)
	}
	runExtra = func() {
		defer extra.Add(-1)
		for late() {
			item, ok := <-items
			if !ok {
				return
			}
			do(item)
		}
	}
	for range few {
		workers.Go(func() {
			for item := range items {
				do(item)
			}
		})
	}
	workers.Wait()
}
