//go:build linux

package fsnode

import (
	"context"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
)

// gracePeriod is how long a request continues after a signal to the reader. Programs do not expect EINTR from
// a file, so the signal waits that long. A reader that waits for a source that does not answer can still be
// killed.
const gracePeriod = 5 * time.Second

// maxAbandoned bounds the abandoned calls in progress. Each of them has a goroutine, and usually a thread.
const maxAbandoned = 1000

// sourceCalls makes calls to the source that requests can abandon. An abandoned call continues until the
// source answers.
type sourceCalls struct {
	abandoned chan struct{} // holds a value for each abandoned call in progress
	atOnce    func() bool   // reports whether the source answers at once, so that no call has to be abandoned
}

func newSourceCalls(atOnce func() bool) *sourceCalls {
	if atOnce == nil {
		atOnce = func() bool { return false }
	}
	return &sourceCalls{make(chan struct{}, maxAbandoned), atOnce}
}

// callSource returns the result of call. If ctx is done and the grace period is over, it abandons the call
// and returns ctx.Err(). The later value of an abandoned call goes to discard. While maxAbandoned calls are
// abandoned, no other call can be. A panic of call is its error.
//
// A call that can be abandoned has a goroutine of its own. The switch to it and back takes 3 µs, and 30 to 40
// µs in a server whose threads wait in the kernel. A lookup in a local directory takes about 70 µs. So, if
// the source answers at once, callSource makes the call itself.
func callSource[T any](ctx context.Context, c *sourceCalls, call func() (T, error), discard func(T)) (T, error) {
	guarded := func() (T, error) {
		guard.Pass("fsnode.source")
		return call()
	}
	if c.atOnce() {
		return guard.Call("fsnode.source", guarded)
	}
	results, abandoned := make(chan result[T]), make(chan struct{})
	go guard.Func("fsnode.source", func() {
		growStack(0)
		var r result[T]
		r.value, r.err = guard.Call("fsnode.source", guarded)
		select {
		case results <- r:
		case <-abandoned:
			<-c.abandoned
			if guard.Report(r.err); r.err == nil {
				discard(r.value)
			}
		}
	})()
	if r, ok := wait(ctx, results); ok {
		return r.value, r.err
	}
	select {
	case r := <-results:
		return r.value, r.err
	case c.abandoned <- struct{}{}:
		close(abandoned)
		var zero T
		return zero, ctx.Err()
	}
}

// growStack grows the stack of a new goroutine from 2 KiB to the size that a call needs. That takes 2 µs less
// than growing it three times during the call.
//
//go:noinline
func growStack(i int) byte {
	var frame [6 << 10]byte
	return frame[i]
}

// wait returns a result. It returns false if there is none when ctx is done and the grace period is over.
func wait[T any](ctx context.Context, results <-chan T) (r T, ok bool) {
	select {
	case r = <-results:
		return r, true
	case <-ctx.Done():
	}
	timer := time.NewTimer(gracePeriod)
	defer timer.Stop()
	select {
	case r = <-results:
		return r, true
	case <-timer.C:
		return r, false
	}
}

// result is what a call returned.
type result[T any] struct {
	value T
	err   error
}

// noDiscard is for calls whose value needs no closing.
func noDiscard[T any](T) {}
