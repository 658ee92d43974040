package parallel

import (
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Drain calls work for each item of a channel. It makes up to few calls at a time, and up to many while late reports
// true. It returns when the channel is closed and all calls have returned. A panic of work becomes a panic of the
// caller, at the end. The items after it are received, and most of them are dropped.
func Drain[T any](items <-chan T, few, many int, late func() bool, work func(T)) {
	var workers sync.WaitGroup
	var relay guard.Relay
	var extra atomic.Int32 // workers beyond few
	var runExtra func()
	do := func(item T) {
		switch {
		case !late():
		case few+int(extra.Add(1)) <= many:
			workers.Go(relay.Func("parallel.extra", runExtra))
		default:
			extra.Add(-1)
		}
		guard.Pass("parallel.drain")
		work(item)
	}
	runExtra = func() {
		defer extra.Add(-1)
		guard.Pass("parallel.extra")
		for late() {
			item, ok := <-items
			if !ok {
				return
			}
			do(item)
		}
	}
	for range few {
		workers.Go(relay.Func("parallel.drain", func() {
			defer func() {
				for range items { // after a panic: whoever sends the items goes on
				}
			}()
			for item := range items {
				do(item)
			}
		}))
	}
	workers.Wait()
	relay.Repeat()
}
