package cache

import (
	"slices"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// round is loads that a request begins together. Several goroutines run them.
type round struct {
	cache  *Cache
	loads  []load
	next   atomic.Int32 // the first load that nobody runs
	weight int64        // of the place that the loads have

	// users are the goroutines, and the request until it has used the blocks. The last one gives the place back, which
	// may be long after the reader left if the source hangs.
	users atomic.Int32
}

// start runs the loads in goroutines. The caller is a user afterwards.
func (r *round) start(s *Source) {
	workers := min(len(r.loads), s.workers())
	r.users.Store(int32(workers) + 1)
	work := r.work
	for range workers {
		r.cache.running.Go(work)
	}
}

// work runs loads until none is left.
func (r *round) work() {
	defer func() {
		if int(r.next.Load()) < len(r.loads) { // the source ended this goroutine
			r.cache.running.Go(r.work)
			return
		}
		r.leave()
	}()
	for i := int(r.next.Add(1)) - 1; i < len(r.loads); i = int(r.next.Add(1)) - 1 {
		r.loads[i].run()
	}
}

// leave takes a user off.
func (r *round) leave() {
	if r.users.Add(-1) == 0 && r.weight > 0 {
		r.cache.places.Release(r.weight)
	}
}

// loadMissing loads the blocks that have no entry, a round at a time, so that what the reader waits for is bounded.
func (r *request) loadMissing() error {
	for blocks := range slices.Chunk(r.missing, r.source.round()) {
		if err := r.loadRound(blocks); err != nil {
			return err
		}
	}
	return nil
}

// loadRound loads blocks and uses them.
func (r *request) loadRound(blocks []wanted) error {
	c := r.source.cache
	if !c.enter() {
		return ErrClosed
	}
	defer c.running.Done()
	round := &round{cache: c}
	if !r.reserved {
		round.weight = min(int64(len(blocks)*r.source.weight), inFlight)
		if err := c.places.Acquire(r.ctx, round.weight); err != nil {
			return err
		}
	}
	round.loads = r.begin(blocks)
	round.start(r.source)
	defer round.leave()
	return r.wait()
}

// begin makes loads for the blocks that still have no entry.
func (r *request) begin(blocks []wanted) []load {
	loads := make([]load, (len(blocks)+r.chunk-1)/r.chunk)
	n := 0
	for len(blocks) > 0 {
		l := &loads[n]
		l.init(r.source, min(r.chunk, len(blocks)))
		for len(blocks) > 0 && len(l.parts) < cap(l.parts) {
			r.beginBlock(l, blocks[0])
			blocks = blocks[1:]
		}
		if len(l.parts) > 0 {
			n++
		}
	}
	return loads[:n]
}

// beginBlock adds a block to the load, unless there is an entry by now.
func (r *request) beginBlock(l *load, w wanted) {
	c := r.source.cache
	n := len(l.parts)
	l.parts = l.parts[:n+1]
	p := &l.parts[n]
	e := &entry{key: w.key, hash: w.hash}
	p.entry = e
	e.refs.Store(2) // of the load and of this request
	e.load.Store(l)
	l.waiters.Add(1)
	other, under := c.index.put(e)
	if other == nil {
		p.at = r.blocks[w.i]
		l.blocks = append(l.blocks, volume.Block{At: p.at})
		p.home = c.home(e, r.keep)
		r.waiting = append(r.waiting, found{w.i, e, l})
		return
	}
	l.waiters.Add(-1)
	l.parts = l.parts[:n]
	if under != nil {
		r.share(found{w.i, other, under})
		return
	}
	r.hit(other)
	r.waiting = append(r.waiting, found{i: w.i, entry: other}) // it is used when all loads run
}
