package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/wkwfs/wkwfs/volume"
)

const (
	// inFlight bounds the bytes of all blocks that are being loaded. A block that is
	// larger is loaded alone.
	inFlight = 64 << 20
	// maxTogether bounds the bytes of blocks that are loaded as one: who wants one of them waits
	// for all.
	maxTogether = 4 << 20
)

// loader runs loads: one for each block at a time, and as many at once as there
// are CPUs and as [inFlight] allows.
type loader struct {
	places *semaphore.Weighted // of inFlight bytes

	mu      sync.Mutex
	flights map[key]seat // of each block that is being loaded
	closed  bool
	running sync.WaitGroup // the flights' goroutines; nothing is added after close

	loads, shared, failures, bytes atomic.Uint64
}

// flight is one load, of one or more blocks of a source, and those who wait for it.
type flight struct {
	source  *source
	wants   []request
	cancel  context.CancelFunc
	waiters int // one for each block that a reader wants; under loader.mu

	loaded []loaded // of wants
}

// loaded is a block, or why there is none.
type loaded struct {
	done chan struct{} // closed when the rest is final

	data      []byte
	err       error
	known     bool // which of the two it is
	published bool
}

func (l *loaded) set(data []byte, err error) { l.data, l.err, l.known = data, err, true }

// seat is the place of a block in a flight; or it has been kept meanwhile.
type seat struct {
	*flight
	i    int
	kept *entry
}

func newLoader() *loader {
	return &loader{places: semaphore.NewWeighted(inFlight), flights: make(map[key]seat)}
}

// do shows the blocks, from loads that are under way or from new ones, or returns
// ctx.Err() as soon as ctx is done. A load goes on while anybody waits for it, whoever
// came first, and its context is done when nobody does.
//
// An error counts for readers of the source it came from. Another source of the same
// version may do better: that one may just have been closed by a reader who left.
func (l *loader) do(ctx context.Context, wants []request, use func(b volume.Vec, block []byte)) error {
	for len(wants) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		seats, err := l.join(ctx, wants)
		if err != nil {
			return err
		}
		wants, err = l.wait(ctx, wants, seats, use)
		l.leave(seats)
		if err != nil {
			return err
		}
	}
	return nil
}

// wait shows the blocks as they come, and returns those that the source of another reader failed
// to bring.
func (l *loader) wait(ctx context.Context, wants []request, seats []seat, use func(b volume.Vec, block []byte)) (again []request, err error) {
	for i, s := range seats {
		if s.kept != nil {
			use(wants[i].block, s.kept.data)
			continue
		}
		got := &s.loaded[s.i]
		select {
		case <-got.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case got.err == nil:
			use(wants[i].block, got.data)
		case s.source == wants[i].source:
			return nil, got.err
		default:
			l.land(s.flight)
			again = append(again, wants[i])
		}
	}
	return again, nil
}

// join adds a waiter to the flight of each block, and starts flights for those that have
// none.
func (l *loader) join(ctx context.Context, wants []request) ([]seat, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	seats := make([]seat, len(wants))
	var rest []request
	for i, r := range wants {
		var under bool
		if seats[i], under = l.flights[r.key]; under {
			l.shared.Add(1)
		} else if seats[i].kept = r.found(); seats[i].kept == nil {
			// The flight that this reader just missed may have landed. What was loaded is
			// kept before its flight is removed, so it would be found or it is gone again.
			rest = append(rest, r)
		}
	}
	for part := range slices.Chunk(rest, wants[0].source.together()) {
		l.start(ctx, part)
	}
	for i, r := range wants {
		if seats[i].kept == nil {
			seats[i] = l.flights[r.key]
			seats[i].waiters++
		}
	}
	return seats, nil
}

// start begins a flight of blocks of one source. It is called with mu held.
func (l *loader) start(ctx context.Context, wants []request) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{
		source: wants[0].source, wants: wants, cancel: cancel,
		loaded: make([]loaded, len(wants)),
	}
	for i, r := range wants {
		f.loaded[i].done = make(chan struct{})
		l.flights[r.key] = seat{flight: f, i: i}
	}
	l.running.Go(func() { l.fly(ctx, f) })
}

// leave takes the waiter off the flight of each seat. The last one ends it, if it has not ended
// yet; who comes later must not find a load that is being given up.
func (l *loader) leave(seats []seat) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range seats {
		if s.kept != nil {
			continue
		}
		s.waiters--
		if s.waiters == 0 {
			l.remove(s.flight)
			s.cancel()
		}
	}
}

// remove makes room for the next flights to the same blocks. It is called with mu held.
func (l *loader) remove(f *flight) {
	for _, r := range f.wants {
		if l.flights[r.key].flight == f {
			delete(l.flights, r.key)
		}
	}
}

// fly loads the blocks. Each is kept and then given to the readers: one who came round
// sooner would find blocks kept later that he has used before others. The place is held until the
// blocks count against the budget.
func (l *loader) fly(ctx context.Context, f *flight) {
	defer f.cancel()
	defer l.land(f)
	release, err := l.place(ctx, len(f.wants)*f.source.bytes)
	if err != nil {
		f.fail(err)
		l.publish(f)
		return
	}
	defer release()
	defer func() {
		f.fail(errEnded)
		l.publish(f)
	}()
	if len(f.wants) > 1 {
		f.loadTogether(ctx)
		l.publish(f)
	}
	// Those that are left, one by one: readers who meet an error need not wait for the others.
	for i := range f.wants {
		if err := ctx.Err(); err != nil {
			f.fail(err)
		} else if !f.loaded[i].known {
			f.loadOne(ctx, i)
			l.publish(f)
		}
	}
}

// publish keeps the blocks that have become known and gives them, or the errors, to the
// readers.
func (l *loader) publish(f *flight) {
	var entries []*entry
	var known []*loaded
	for i := range f.loaded {
		got := &f.loaded[i]
		switch {
		case !got.known || got.published:
			continue
		case got.err != nil:
			l.countFailure()
		default:
			l.count(1, len(got.data))
			entries = append(entries, f.wants[i].entry(got.data))
		}
		got.published = true
		known = append(known, got)
	}
	// What readers missed is counted by a goroutine of ristretto, and lost if that gets no turn:
	// readers and loads could hand on to each other for ever on one processor.
	runtime.Gosched()
	f.source.cache.window.add(entries...)
	for _, got := range known {
		close(got.done)
	}
}

// count counts blocks that were loaded, and their bytes.
func (l *loader) count(blocks, bytes int) {
	l.loads.Add(uint64(blocks))
	l.bytes.Add(uint64(bytes))
}

// countFailure counts a block that was not.
func (l *loader) countFailure() {
	l.loads.Add(1)
	l.failures.Add(1)
}

// place waits for a place to load so many bytes, and returns how it is given back.
func (l *loader) place(ctx context.Context, bytes int) (release func(), err error) {
	weight := weight(bytes)
	if err := l.places.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { l.places.Release(weight) }, nil
}

// land makes room for the next flights to the same blocks.
func (l *loader) land(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(f)
}

// errEnded is what readers get of a load that ended its goroutine (runtime.Goexit).
var errEnded = errors.New("the load ended its goroutine")

// loadTogether loads the blocks at once. Of those that it has not loaded, one by one tells which
// are to blame.
func (f *flight) loadTogether(ctx context.Context) {
	defer func() { _ = recover() }() // it happens again, to the block that it concerns
	f.source.loadAll(ctx, f.wants, func(i int, data []byte) { f.loaded[i].set(data, nil) })
}

// loadOne loads block i. A panic becomes the error of its readers, for nobody could
// recover it in this goroutine.
func (f *flight) loadOne(ctx context.Context, i int) {
	r := f.wants[i]
	defer func() {
		if p := recover(); p != nil {
			f.loaded[i].set(nil, fmt.Errorf("block %v: panic: %v\n%s", r.block, p, debug.Stack()))
		}
	}()
	data, err := r.load(ctx)
	f.loaded[i].set(data, err)
}

// fail gives an error to those blocks of which nothing is known.
func (f *flight) fail(err error) {
	for i, r := range f.wants {
		if !f.loaded[i].known {
			f.loaded[i].set(nil, fmt.Errorf("block %v: %w", r.block, err))
		}
	}
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
