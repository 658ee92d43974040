package cache

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/volume"
)

// round is a group of loads that a request starts together. Several goroutines run them, or the goroutine of the
// request.
type round struct {
	cache  *Cache
	loads  []load
	next   atomic.Int32 // index of the first load that was not started
	flight *flight      // nil: the caller has reserved the memory
	small  bool         // the loads have up to ownBytes

	// users counts the goroutines, and the request until it has used the blocks. The last user releases the bytes in
	// flight. If the source hangs, that is long after the request was canceled.
	users atomic.Int32
}

// start runs the loads in goroutines. Afterwards the caller is a user of the round. If the source answers at once,
// start runs loads in the goroutine of the caller as well, and returns when all have started.
func (r *round) start(s *Source) {
	workers := min(len(r.loads), s.workers())
	atOnce := s.Speed().AtOnce
	switch {
	case atOnce && r.small:
		workers = 0
	case atOnce:
		workers = max(workers-1, 0) // there may be no loads: another request started them all
	}
	r.users.Store(int32(workers) + 1)
	work := guard.Func("cache.round", r.work)
	for range workers {
		r.cache.running.Go(work)
	}
	if atOnce {
		r.runLoads()
	}
}

// work runs loads until none is left.
func (r *round) work() {
	defer func() {
		if int(r.next.Load()) < len(r.loads) { // the source ended this goroutine
			r.cache.running.Go(guard.Func("cache.round", r.work))
			return
		}
		r.release()
	}()
	guard.Pass("cache.round")
	r.runLoads()
}

// runLoads runs loads until all have started.
func (r *round) runLoads() {
	for i := int(r.next.Add(1)) - 1; i < len(r.loads); i = int(r.next.Add(1)) - 1 {
		r.loads[i].run()
	}
}

// release removes a user.
func (r *round) release() {
	if r.users.Add(-1) == 0 {
		r.flight.release(math.MaxInt64)
	}
}

// loadMissing loads the missing blocks and uses them, one round after the other. This bounds the memory in flight for
// one request.
func (r *request) loadMissing() error {
	for blocks := range slices.Chunk(r.missing, r.source.roundSize()) {
		if err := r.loadRound(blocks); err != nil {
			return err
		}
	}
	return nil
}

// loadRound loads blocks and uses them.
func (r *request) loadRound(blocks []missing) error {
	c := r.source.cache
	if !c.tryStart() {
		return ErrClosed
	}
	defer c.running.Done()
	round := &round{cache: c, small: len(blocks)*r.source.bytes <= c.limits.own}
	round.users.Store(1)
	if n := r.source.inFlight(len(blocks), r.reserved); n > 0 {
		var err error
		if round.flight, err = c.flights.start(r.ctx, n); err != nil {
			return err
		}
	}
	if round.small && r.source.Speed().AtOnce {
		r.loadSize = max(r.loadSize, r.source.blocksIn(c.limits.own))
	}
	defer round.release()
	var err error
	if round.loads, err = r.newLoads(blocks); err != nil {
		return err
	}
	for i := range round.loads {
		round.loads[i].flight = round.flight
	}
	round.start(r.source)
	return r.wait()
}

// newLoads returns loads for the blocks that still have no entry. If it panics, the loads that it has made end with
// that: other requests may wait for them already.
func (r *request) newLoads(blocks []missing) ([]load, error) {
	loads := make([]load, (len(blocks)+r.loadSize-1)/r.loadSize)
	n, now := 0, time.Now()
	err := guard.Do("cache.request", func() error {
		for len(blocks) > 0 {
			l := &loads[n]
			l.init(r.source, min(r.loadSize, len(blocks)))
			for len(blocks) > 0 && len(l.parts) < cap(l.parts) {
				r.addToLoad(l, blocks[0], now)
				blocks = blocks[1:]
			}
			if len(l.parts) > 0 {
				n++
			}
		}
		return nil
	})
	for i := 0; err != nil && i < len(loads) && loads[i].done != nil; i++ {
		loads[i].end(err)
	}
	return loads[:n], err
}

// addToLoad adds a block to a load, unless another request has added an entry for it.
func (r *request) addToLoad(l *load, m missing, now time.Time) {
	c := r.source.cache
	n := len(l.parts)
	l.parts = l.parts[:n+1]
	p := &l.parts[n]
	e := &entry{key: m.key, hash: m.hash}
	p.entry = e
	e.refs.Store(2) // of the load and of this request
	e.load.Store(l)
	l.waiters.Add(1)
	other, pending := c.index.put(e)
	if other == nil {
		p.at = r.blocks[m.i]
		l.blocks = append(l.blocks, volume.Block{At: p.at, Shares: true})
		r.waiting = append(r.waiting, waiting{m.i, e, l})
		guard.Pass("cache.request")
		p.list = c.listFor(e, r.keep, now)
		return
	}
	l.waiters.Add(-1)
	l.parts = l.parts[:n]
	if pending != nil {
		r.share(waiting{m.i, other, pending})
		return
	}
	r.hit(other)
	r.waiting = append(r.waiting, waiting{i: m.i, entry: other}) // it is used after all loads of the round have started
}
