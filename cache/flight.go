package cache

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// inFlight bounds the bytes of all blocks that are being loaded. A block that is
// larger is loaded alone.
const inFlight = 64 << 20

// loader runs loads: one for each block at a time, and as many at once as there
// are CPUs and as [inFlight] allows.
type loader struct {
	places *semaphore.Weighted // of inFlight bytes

	mu      sync.Mutex
	flights map[key]*flight
	closed  bool
	running sync.WaitGroup // the flights' goroutines; nothing is added after close

	loads, shared, failures, bytes atomic.Uint64
}

// flight is one load and those who wait for it.
type flight struct {
	source  *source // that the block is loaded from
	cancel  context.CancelFunc
	waiters int // under loader.mu

	done chan struct{} // closed when data and err are final
	data []byte
	err  error
}

func newLoader() *loader {
	return &loader{places: semaphore.NewWeighted(inFlight), flights: make(map[key]*flight)}
}

// do returns the block, from the load that is under way or from a new one, or
// ctx.Err() as soon as ctx is done. A load goes on while anybody waits for it, whoever
// came first, and its context is done when nobody does.
//
// An error counts for readers of the source it came from. Another source of the same
// version may do better: that one may just have been closed by a reader who left.
func (l *loader) do(ctx context.Context, r request) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, kept, err := l.join(ctx, r)
		if err != nil {
			return nil, err
		}
		if kept != nil {
			return kept.data, nil
		}
		select {
		case <-f.done:
			if f.err == nil || f.source == r.source {
				return f.data, f.err
			}
			l.land(r.key, f)
		case <-ctx.Done():
			l.leave(r.key, f)
			return nil, ctx.Err()
		}
	}
}

// join adds a waiter to the flight for the block, which it starts if there is none;
// or it returns the entry of the block, if that was kept meanwhile.
func (l *loader) join(ctx context.Context, r request) (f *flight, kept *entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f = l.flights[r.key]
	switch {
	case f != nil:
		l.shared.Add(1)
	case l.closed:
		return nil, nil, ErrClosed
	default:
		// The flight that this reader just missed may have landed. What was loaded is
		// kept before its flight is removed, so it is found here or it is gone again.
		if kept = r.found(); kept != nil {
			return nil, kept, nil
		}
		f = l.start(ctx, r)
	}
	f.waiters++
	return f, nil, nil
}

// start begins a flight. It is called with mu held.
func (l *loader) start(ctx context.Context, r request) *flight {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{source: r.source, cancel: cancel, done: make(chan struct{})}
	l.flights[r.key] = f
	l.running.Go(func() { l.fly(ctx, r, f) })
	return f
}

// leave takes a waiter off the flight. The last one ends it; who comes later must
// not find a load that is being given up.
func (l *loader) leave(k key, f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiters--
	if f.waiters == 0 {
		l.remove(k, f)
		f.cancel()
	}
}

// remove makes room for the next flight to the same block. It is called with mu held.
func (l *loader) remove(k key, f *flight) {
	if l.flights[k] == f {
		delete(l.flights, k)
	}
}

// fly loads the block, lets the readers go on, and then keeps it. The place is held
// until the block counts against the budget.
func (l *loader) fly(ctx context.Context, r request, f *flight) {
	defer f.cancel()
	defer l.land(r.key, f)
	release, err := l.place(ctx, r.source.bytes)
	if f.err = err; err != nil {
		close(f.done)
		return
	}
	defer release()

	l.load(ctx, r, f)
	if f.err == nil {
		r.keep(f.data)
	}
}

// place waits for a place to load blocks of so many bytes, and returns how it is given back.
func (l *loader) place(ctx context.Context, bytes int) (release func(), err error) {
	weight := weight(bytes)
	if err := l.places.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { l.places.Release(weight) }, nil
}

// land makes room for the next flight to the same block.
func (l *loader) land(k key, f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(k, f)
}

// load fills in what the load brings and lets the readers go on, whatever happens:
// a panic becomes their error, for nobody could recover it in this goroutine.
func (l *loader) load(ctx context.Context, r request, f *flight) {
	l.loads.Add(1)
	returned := false
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("block %v: panic: %v\n%s", r.block, p, debug.Stack())
		} else if !returned { // runtime.Goexit
			f.err = fmt.Errorf("block %v: the load ended its goroutine", r.block)
		}
		if f.err != nil {
			l.failures.Add(1)
		}
		l.bytes.Add(uint64(len(f.data)))
		close(f.done)
	}()
	f.data, f.err = r.load(ctx)
	returned = true
}

// close waits until all flights have landed; none starts after it.
func (l *loader) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.running.Wait()
}

// weight is what a load takes of the places: at least one CPU's share of
// them, at most all.
func weight(bytes int) int64 {
	return min(max(int64(bytes), inFlight/int64(runtime.NumCPU())), inFlight)
}
