package parallel

import (
	"sync"
	"sync/atomic"
)

// Drain calls work for all that comes from a channel. It makes up to few calls at a time, and up to many while late
// reports true. It returns when the channel is closed and all calls have returned.
func Drain[T any](items <-chan T, few, many int, late func() bool, work func(T)) {
	var all sync.WaitGroup
	var helpers atomic.Int32
	var help func()
	do := func(item T) {
		switch {
		case !late():
		case few+int(helpers.Add(1)) <= many:
			all.Go(help)
		default:
			helpers.Add(-1)
		}
		work(item)
	}
	help = func() {
		defer helpers.Add(-1)
		for late() {
			item, ok := <-items
			if !ok {
				return
			}
			do(item)
		}
	}
	for range few {
		all.Go(func() {
			for item := range items {
				do(item)
			}
		})
	}
	all.Wait()
}
