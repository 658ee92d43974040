package cache

import (
	"slices"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/volume"
)

// round is a group of loads that a request starts together. Several goroutines run them.
type round struct {
	cache  *Cache
	loads  []load
	next   atomic.Int32 // index of the first load that was not started
	memory int64        // bytes in flight

	// users counts the goroutines, and the request until it has used the blocks. The last user releases the bytes in
	// flight. If the source hangs, that is long after the request was canceled.
	users atomic.Int32
}

// start runs the loads in goroutines. Afterwards the caller is a user of the round.
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
		r.release()
	}()
	for i := int(r.next.Add(1)) - 1; i < len(r.loads); i = int(r.next.Add(1)) - 1 {
		r.loads[i].run()
	}
}

// release removes a user.
func (r *round) release() {
	if r.users.Add(-1) == 0 && r.memory > 0 {
		r.cache.inFlight.Release(r.memory)
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
	round := &round{cache: c}
	if !r.reserved {
		round.memory = min(int64(len(blocks)*r.source.memory), maxInFlight)
		if err := c.inFlight.Acquire(r.ctx, round.memory); err != nil {
			return err
		}
	}
	round.loads = r.newLoads(blocks)
	round.start(r.source)
	defer round.release()
	return r.wait()
}

// newLoads returns loads for the blocks that still have no entry.
func (r *request) newLoads(blocks []missing) []load {
	loads := make([]load, (len(blocks)+r.loadSize-1)/r.loadSize)
	n := 0
	for len(blocks) > 0 {
		l := &loads[n]
		l.init(r.source, min(r.loadSize, len(blocks)))
		for len(blocks) > 0 && len(l.parts) < cap(l.parts) {
			r.addToLoad(l, blocks[0])
			blocks = blocks[1:]
		}
		if len(l.parts) > 0 {
			n++
		}
	}
	return loads[:n]
}

// addToLoad adds a block to a load, unless another request has added an entry for it.
func (r *request) addToLoad(l *load, m missing) {
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
		l.blocks = append(l.blocks, volume.Block{At: p.at})
		p.list = c.listFor(e, r.keep)
		r.waiting = append(r.waiting, waiting{m.i, e, l})
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
