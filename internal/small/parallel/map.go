package parallel

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// Alone is how long [Map] makes one call at a time.
const Alone = 100 * time.Microsecond

// Map returns the results of f for the items. For as long as [Alone] it calls f in the goroutine of the caller, which
// is enough for a source that knows the answers. After that up to [Lookups] calls are in progress at a time, as with
// [Each]. A panic of f becomes a panic of the caller, when all calls have returned.
func Map[T, R any](items []T, f func(T) R) []R {
	results := make([]R, len(items))
	var next atomic.Int64
	var relay guard.Relay
	work := relay.Func("parallel.map", func() {
		guard.Pass("parallel.map")
		for i := next.Add(1) - 1; i < int64(len(items)); i = next.Add(1) - 1 {
			results[i] = f(items[i])
		}
	})
	var helpers sync.WaitGroup
	helpers.Add(1)
	late := time.AfterFunc(Alone, relay.Func("parallel.late", func() {
		defer helpers.Done()
		guard.Pass("parallel.late")
		for range min(Lookups-1, len(items)-int(next.Load())) {
			helpers.Go(work)
		}
	}))
	work()
	if late.Stop() {
		helpers.Done()
	}
	helpers.Wait()
	relay.Repeat()
	return results
}
