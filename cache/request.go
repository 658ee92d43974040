package cache

import (
	"context"
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/internal/small/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// request gets entries for blocks: from the index, from loads of other requests, or from its own loads.
type request struct {
	source   *Source
	ctx      context.Context
	keep     Keep
	loadSize int  // blocks in a load
	reserved bool // the caller has reserved the memory

	blocks []volume.Vec
	use    func(at volume.Vec, voxels []byte) // is called for each block; if nil, the entries are stored in held
	held   []*entry

	unresolved []int     // blocks whose key the source has to resolve
	missing    []missing // blocks that are not in memory and not being loaded
	waiting    []waiting // blocks whose entries will be used, most of them after a load
	used       int       // number of waiting blocks that were used
	retry      []missing // blocks that another source failed to load
	hits       uint64
}

// missing is a block without an entry.
type missing struct {
	i    int // index in blocks
	key  volume.Key
	hash uint64
}

// waiting is a block with a reference to its entry. If the block is being loaded, the request is a waiter of the load.
type waiting struct {
	i     int // index in blocks
	entry *entry
	load  *load
}

var requestPool = sync.Pool{New: func() any { return new(request) }}

// newRequest returns a request without a use of the blocks. The caller recycles it.
func (s *Source) newRequest(ctx context.Context, blocks []volume.Vec, keep Keep, loadSize int) *request {
	r := requestPool.Get().(*request)
	r.source, r.ctx, r.blocks, r.keep, r.loadSize = s, ctx, blocks, keep, loadSize
	return r
}

// recycle returns the request to the pool.
func (r *request) recycle() {
	*r = request{missing: r.missing[:0], waiting: r.waiting[:0]}
	requestPool.Put(r)
}

// read gets the entries and uses them.
func (r *request) read() error {
	defer r.end()
	for i, at := range r.blocks {
		if !at.In(r.source.blocks) {
			return fmt.Errorf("block %v is outside of the grid of %v blocks", at, r.source.blocks)
		}
		r.lookUp(i)
	}
	for len(r.unresolved)+len(r.missing)+len(r.waiting) > 0 {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.resolve(); err != nil {
			return err
		}
		if err := r.loadMissing(); err != nil {
			return err
		}
		if err := r.wait(); err != nil {
			return err
		}
		r.missing, r.retry = append(r.missing[:0], r.retry...), nil
	}
	return nil
}

// deliver uses a block that is ready, and takes over the reference to its entry. The entry is nil if the block was
// never written.
func (r *request) deliver(i int, e *entry) {
	switch {
	case r.use == nil:
		r.held[i] = e
	case e == nil:
		r.use(r.blocks[i], nil)
	default:
		defer r.source.cache.release(e)
		r.use(r.blocks[i], e.voxels)
	}
}

// lookUp delivers a block in memory, or adds the block to unresolved, missing or waiting.
func (r *request) lookUp(i int) {
	c := r.source.cache
	key, resolved := r.source.key(r.blocks[i])
	if !resolved {
		r.unresolved = append(r.unresolved, i)
		return
	}
	if r.source.keyed != nil && key.Version == absent {
		r.deliver(i, nil)
		return
	}
	hash := c.hash(key)
	if r.reserved && r.keep == Never { // a block of a slab is rarely in memory, and newLoads looks it up, too
		r.missing = append(r.missing, missing{i, key, hash})
		return
	}
	switch e, pending := c.index.get(hash, key); {
	case e == nil:
		r.missing = append(r.missing, missing{i, key, hash})
	case pending != nil:
		r.share(waiting{i, e, pending})
	default:
		r.hit(e)
		r.deliver(i, e)
	}
}

// share waits for the load of another request.
func (r *request) share(w waiting) {
	r.source.cache.shared.Add(1)
	r.waiting = append(r.waiting, w)
}

// hit records a use of an entry that is ready.
func (r *request) hit(e *entry) {
	r.hits++
	switch c := r.source.cache; {
	case e.offered.Load():
		c.frequent.count(e.hash)
	case e.shortTerm:
		c.shortTerm.touch(e)
	default:
		c.recent.touch(e)
	}
}

// resolve lets the source find out the keys of unresolved blocks, many at a time if it answers late. Then it looks
// the blocks up.
func (r *request) resolve() error {
	unresolved := r.unresolved
	r.unresolved = nil
	resolve := func(i int) error {
		if _, resolved := r.source.keyed.Key(r.blocks[i]); resolved {
			return nil
		}
		return r.source.resolve(r.ctx, r.blocks[i])
	}
	if len(unresolved) > 1 && vfs.SpeedOf(r.source.src).Late {
		for _, err := range parallel.Each(unresolved, resolve) {
			if err != nil {
				return err
			}
		}
	}
	for _, i := range unresolved {
		if err := resolve(i); err != nil {
			return err
		}
		r.lookUp(i)
	}
	return nil
}

// wait delivers the waiting blocks as their loads end. A block that another source failed to load is loaded again:
// the reader of that source may just have closed it.
func (r *request) wait() error {
	for r.used < len(r.waiting) {
		w := r.waiting[r.used]
		if w.entry.load.Load() != nil {
			select {
			case <-w.load.done:
			case <-r.ctx.Done():
				return r.ctx.Err()
			}
		}
		r.used++
		err := w.entry.err
		if err == nil {
			r.deliver(w.i, w.entry)
			continue
		}
		again := missing{w.i, w.entry.key, w.entry.hash}
		r.source.cache.release(w.entry)
		if w.load.source == r.source {
			return err
		}
		r.retry = append(r.retry, again)
	}
	r.end()
	return nil
}

// end stops waiting for blocks that were not used, and counts the hits.
func (r *request) end() {
	c := r.source.cache
	for _, w := range r.waiting[r.used:] {
		if w.load != nil {
			w.load.removeWaiter()
		}
		c.release(w.entry)
	}
	clear(r.waiting)
	r.waiting, r.used = r.waiting[:0], 0
	if r.hits > 0 {
		c.hits.Add(r.hits)
		r.hits = 0
	}
}
