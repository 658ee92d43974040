package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// load decodes some blocks of a source that are close to each other. It is also the context of the call of Fill,
// which is done when no request waits for any of the blocks.
type load struct {
	source   *Source
	parts    []part
	blocks   []volume.Block // for Fill, which may change their order
	nextPart atomic.Int32   // where the search for a part starts
	flight   *flight        // may be nil

	done      chan struct{} // closed when all entries are ready
	waiters   atomic.Int32  // references of requests to entries; the load is abandoned at 0
	abandoned chan struct{}
}

// part is one block of a load.
type part struct {
	entry  *entry // allocated alone: a kept entry must not keep the load and its other blocks alive
	at     volume.Vec
	list   *recentList // that will keep the block; nil: the block will not be kept
	filled bool        // Fill has set the result
}

// init makes room for n blocks.
func (l *load) init(s *Source, n int) {
	l.source = s
	l.parts, l.blocks = make([]part, 0, n), make([]volume.Block, 0, n)
	l.done, l.abandoned = make(chan struct{}), make(chan struct{})
}

// Deadline implements [context.Context].
func (l *load) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements [context.Context].
func (l *load) Done() <-chan struct{} { return l.abandoned }

// Value implements [context.Context].
func (l *load) Value(any) any { return nil }

// Err implements [context.Context].
func (l *load) Err() error {
	select {
	case <-l.abandoned:
		return context.Canceled
	default:
		return nil
	}
}

// addWaiter adds a waiter. It returns false if the load is abandoned.
func (l *load) addWaiter() bool {
	for {
		n := l.waiters.Load()
		if n == 0 {
			return false
		}
		if l.waiters.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// removeWaiter removes a waiter. The load is abandoned if it is the last one.
func (l *load) removeWaiter() {
	if l.waiters.Add(-1) == 0 {
		close(l.abandoned)
	}
}

var (
	errGoexit  = errors.New("the source ended the goroutine that called it")
	errSkipped = errors.New("the source returned without a result for it")
)

// run decodes the blocks and publishes the entries. A panic of the source becomes the error of its blocks, because no
// caller could recover from it in this goroutine.
func (l *load) run() {
	err := errGoexit // unless a line below sets another error
	defer func() {
		if p := recover(); p != nil {
			err = guard.Recovered("cache.load", p)
		}
		l.end(err)
	}()
	if err = l.Err(); err != nil {
		return
	}
	if vfs.SpeedOf(l.source.src).Late {
		lateLoads, n := l.source.cache.lateLoads, l.source.lateShare(len(l.parts))
		if err = lateLoads.Acquire(l, n); err != nil {
			return
		}
		defer lateLoads.Release(n)
	}
	err = errGoexit
	guard.Pass("cache.load")
	l.fill()
	for _, b := range l.blocks {
		l.setResult(b)
	}
	err = errSkipped
}

// fill calls Fill, and gives back the memory for decoding before the blocks are published: lists that keep them need
// the room.
func (l *load) fill() {
	if work := int64(len(l.parts) * l.source.work); work > 0 {
		arena := l.source.cache.arena
		arena.lendElsewhere(work)
		defer func() {
			arena.lendElsewhere(-work)
			l.flight.release(work)
		}()
	}
	l.source.src.Fill(l, l.blocks, l.lend)
}

// end sets an error for the blocks without a result, and publishes the entries. A fault there must not let requests
// wait forever: then the rest of the entries is abandoned, with an error or with the voxels that Fill has set.
func (l *load) end(err error) {
	defer close(l.done)
	published := guard.Do("cache.publish", func() error {
		l.failRest(err)
		guard.Pass("cache.publish")
		l.publish()
		return nil
	})
	if published == nil {
		return
	}
	for i := range l.parts {
		p := &l.parts[i]
		if p.entry.load.Load() == nil {
			continue
		}
		if !p.filled {
			p.entry.err = fmt.Errorf("block %v: %w", p.at, published)
		}
		l.source.cache.index.remove(p.entry)
		p.entry.load.Store(nil)
		l.source.cache.release(p.entry)
	}
}

// lend returns the memory for a block.
func (l *load) lend(at volume.Vec) []byte {
	e := l.part(at).entry
	if e.voxels == nil {
		e.voxels = l.source.cache.arena.alloc(l.source.bytes)
	}
	return e.voxels
}

// part returns the part of a block. It starts to search after the part that it returned last, because most sources
// keep the order. It panics if the source has filled a block that is not in the load.
func (l *load) part(at volume.Vec) *part {
	next := int(l.nextPart.Load())
	for i := range l.parts {
		n := (next + i) % len(l.parts)
		if l.parts[n].at == at {
			l.nextPart.Store(int32(n + 1))
			return &l.parts[n]
		}
	}
	panic(fmt.Sprintf("block %v was not requested", at))
}

// setResult sets the result that Fill returned for a block.
func (l *load) setResult(b volume.Block) {
	p := l.part(b.At)
	e := p.entry
	switch {
	case b.Err != nil:
		e.err = b.Err
	case b.Voxels == nil: // never written; memory that was lent is freed below
	case len(b.Voxels) != l.source.bytes:
		e.err = fmt.Errorf("block %v: %d bytes, expected %d", b.At, len(b.Voxels), l.source.bytes)
	case b.Shared:
		l.source.cache.freeVoxels(e)
		e.voxels, e.shared = b.Voxels, true
	case e.voxels == nil || &b.Voxels[0] != &e.voxels[0]:
		e.err = fmt.Errorf("block %v: its voxels are not in the memory that was lent for them", b.At)
	}
	if b.Voxels == nil || e.err != nil {
		l.source.cache.freeVoxels(e)
	}
	p.filled = true
}

// failRest sets an error for the blocks without a result.
func (l *load) failRest(err error) {
	for i := range l.parts {
		if p := &l.parts[i]; !p.filled {
			p.entry.err, p.filled = fmt.Errorf("block %v: %w", p.at, err), true
			l.source.cache.freeVoxels(p.entry)
		}
	}
}

// publish makes the entries ready and wakes the waiters. Entries that are kept enter their list before: otherwise a
// fast reader would disturb the order of use. Entries with an error leave the index, so that the next request tries
// again. Entries of an abandoned load are not kept: another load may have replaced them in the index.
func (l *load) publish() {
	c := l.source.cache
	kept, shortTerm := make([]*entry, 0, loadBlocks), []*entry(nil)
	bytes, failures := 0, 0
	abandoned := l.Err() != nil
	for i := range l.parts {
		p := &l.parts[i]
		e := p.entry
		switch {
		case e.err != nil:
			failures++
			c.index.remove(e)
		case p.list == nil || abandoned:
		case p.list == &c.recent:
			e.acquire()
			kept = append(kept, e)
		default:
			e.acquire()
			shortTerm = append(shortTerm, e)
		}
		if !e.shared {
			bytes += len(e.voxels)
		}
	}
	c.loads.Add(uint64(len(l.parts)))
	c.failures.Add(uint64(failures))
	c.bytes.Add(uint64(bytes))
	c.keep(kept, shortTerm)
	for i := range l.parts {
		e := l.parts[i].entry
		e.load.Store(nil)
		c.release(e)
	}
}

// keep adds entries to the list of recent blocks and to the short-term list, and releases those for which there is no
// room.
func (c *Cache) keep(entries, shortTerm []*entry) {
	if len(shortTerm) > 0 {
		// of a small budget, the short-term list has no room for some blocks
		for _, e := range c.shortTerm.add(shortTerm) {
			e.shortTerm = false
			entries = append(entries, e)
		}
	} else if len(entries) == 0 {
		return
	}
	for _, e := range c.recent.add(entries) {
		c.release(e)
	}
}
