package cache

import (
	"context"
	"fmt"
	"sync"

	"github.com/wkwfs/wkwfs/internal/parallel"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// request finds entries for blocks: in memory, in loads that are under way, or by loads of its own.
type request struct {
	source   *Source
	ctx      context.Context
	keep     Keep
	chunk    int  // blocks of a load
	reserved bool // the caller has reserved the memory

	blocks []volume.Vec
	use    func(at volume.Vec, voxels []byte) // for each block; or nil, and the entries go into held
	held   []*entry

	unknown []int    // blocks that have no key yet
	missing []wanted // blocks that have no entry
	waiting []found  // blocks that have one that is being loaded
	waited  int      // how many of these are done with
	again   []wanted // blocks whose entries got an error from another source
	hits    uint64
}

// wanted is a block by its number in the request's list.
type wanted struct {
	i    int
	key  volume.Key
	hash uint64
}

// found is a block with its entry, to which there is a reference, and the load that the request waits for, if any.
type found struct {
	i     int
	entry *entry
	load  *load
}

var requests = sync.Pool{New: func() any { return new(request) }}

// put makes the request's memory available to others.
func (r *request) put() {
	*r = request{missing: r.missing[:0], waiting: r.waiting[:0]}
	requests.Put(r)
}

// read gets the blocks.
func (r *request) read() error {
	defer r.leave()
	for i, at := range r.blocks {
		if !at.In(r.source.blocks) {
			return fmt.Errorf("block %v of a grid of %v blocks", at, r.source.blocks)
		}
		r.find(i)
	}
	for len(r.unknown)+len(r.missing)+len(r.waiting) > 0 {
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
		r.missing, r.again = append(r.missing[:0], r.again...), nil
	}
	return nil
}

// got takes over a block that is ready, and the reference to its entry, which is nil if the block was never written.
func (r *request) got(i int, e *entry) {
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

// find looks for the entry of a block.
func (r *request) find(i int) {
	c := r.source.cache
	key, known := r.source.key(r.blocks[i])
	if !known {
		r.unknown = append(r.unknown, i)
		return
	}
	if r.source.keyed != nil && key.Version == absent {
		r.got(i, nil)
		return
	}
	hash := c.hash(key)
	switch e, under := c.index.get(hash, key); {
	case e == nil:
		c.frequent.count(hash)
		r.missing = append(r.missing, wanted{i, key, hash})
	case under != nil:
		r.share(found{i, e, under})
	default:
		r.hit(e)
		r.got(i, e)
	}
}

// share waits for a load that another request began.
func (r *request) share(f found) {
	r.source.cache.shared.Add(1)
	r.waiting = append(r.waiting, f)
}

// hit records a use of an entry that is ready.
func (r *request) hit(e *entry) {
	r.hits++
	switch c := r.source.cache; {
	case e.main.Load():
		c.frequent.count(e.hash)
	case e.brief:
		c.brief.touch(e)
	default:
		c.window.touch(e)
	}
}

// resolve has the source find out the keys of blocks that have none, many at a time if it answers late.
func (r *request) resolve() error {
	unknown := r.unknown
	r.unknown = nil
	resolve := func(i int) error {
		if _, known := r.source.keyed.Key(r.blocks[i]); known {
			return nil
		}
		return r.source.resolve(r.ctx, r.blocks[i])
	}
	if len(unknown) > 1 && vfs.IsLate(r.source.src) {
		for _, err := range parallel.Each(unknown, resolve) {
			if err != nil {
				return err
			}
		}
	}
	for _, i := range unknown {
		if err := resolve(i); err != nil {
			return err
		}
		r.find(i)
	}
	return nil
}

// wait uses the blocks as their loads end. A block that another source failed to load is looked for again: that source may
// just have been closed by a reader that left.
func (r *request) wait() error {
	for r.waited < len(r.waiting) {
		f := r.waiting[r.waited]
		if f.entry.load.Load() != nil {
			select {
			case <-f.load.done:
			case <-r.ctx.Done():
				return r.ctx.Err()
			}
		}
		r.waited++
		err := f.entry.err
		if err == nil {
			r.got(f.i, f.entry)
			continue
		}
		again := wanted{f.i, f.entry.key, f.entry.hash}
		r.source.cache.release(f.entry)
		if f.load.source == r.source {
			return err
		}
		r.again = append(r.again, again)
	}
	r.leave()
	return nil
}

// leave gives up what the request still waits for.
func (r *request) leave() {
	c := r.source.cache
	for _, f := range r.waiting[r.waited:] {
		if f.load != nil {
			f.load.leave()
		}
		c.release(f.entry)
	}
	clear(r.waiting)
	r.waiting, r.waited = r.waiting[:0], 0
	if r.hits > 0 {
		c.hits.Add(r.hits)
		r.hits = 0
	}
}
