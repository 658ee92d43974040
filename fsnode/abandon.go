//go:build linux

package fsnode

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
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
	log       *slog.Logger
	atOnce    func() bool // reports whether the source answers at once, so that no call has to be abandoned
}

func newSourceCalls(log *slog.Logger, atOnce func() bool) *sourceCalls {
	if atOnce == nil {
		atOnce = func() bool { return false }
	}
	return &sourceCalls{make(chan struct{}, maxAbandoned), log, atOnce}
}

// callSource returns the result of call. If ctx is done and the grace period is over, it abandons the call
// and returns ctx.Err(). The later value of an abandoned call goes to discard. While maxAbandoned calls are
// abandoned, no other call can be.
//
// A call that can be abandoned has a goroutine of its own. The switch to it and back takes 3 µs, and 30 to 40
// µs in a server whose threads wait in the kernel. A lookup in a local directory takes about 70 µs. So, if
// the source answers at once, callSource makes the call itself.
func callSource[T any](ctx context.Context, c *sourceCalls, call func() (T, error), discard func(T)) (T, error) {
	if c.atOnce() {
		return call()
	}
	results, abandoned := make(chan result[T]), make(chan struct{})
	go func() {
		growStack(0)
		r := resultOf(call)
		select {
		case results <- r:
		case <-abandoned:
			<-c.abandoned
			c.logPanic(r.panicked)
			if r.panicked == nil && r.err == nil {
				discard(r.value)
			}
		}
	}()
	if r, ok := wait(ctx, results); ok {
		return r.get()
	}
	select {
	case r := <-results:
		return r.get()
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

// result is what a call returned, or its panic.
type result[T any] struct {
	value    T
	err      error
	panicked error // nil if the call returned
}

// resultOf makes a call and recovers its panic. Without that, a panic outside of the goroutine of a request
// would end the server.
func resultOf[T any](call func() (T, error)) (r result[T]) {
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
	}()
	r.value, r.err = call()
	return r
}

// get returns what the call returned, or repeats its panic.
func (r result[T]) get() (T, error) {
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.value, r.err
}

// logPanic logs the panic of an abandoned call.
func (c *sourceCalls) logPanic(panicked error) {
	if panicked != nil {
		c.log.Error("panic in an abandoned call", "panic", panicked.Error())
	}
}

// noDiscard is for calls whose value needs no closing.
func noDiscard[T any](T) {}
