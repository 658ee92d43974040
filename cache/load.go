package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// load decodes some blocks of a source that lie close to each other. It is the context of the source's
// reads, which is done when nobody waits for any of the blocks.
type load struct {
	source *Source
	parts  []part
	blocks []volume.Block // for Fill, which may change their order
	next   atomic.Int32   // where find looks first

	done      chan struct{} // closed when all entries are ready
	waiters   atomic.Int32  // references of readers to entries; 0: the load is abandoned
	abandoned chan struct{}
}

// part is one block of a load.
type part struct {
	entry *entry // by itself: a block that is kept must not keep the load and its other blocks
	at    volume.Vec
	home  *window // that the entry enters; nil: it is not kept
	known bool    // the source has said what the entry is
}

// init makes room for n blocks.
func (l *load) init(s *Source, n int) {
	l.source = s
	l.parts, l.blocks = make([]part, 0, n), make([]volume.Block, 0, n)
	l.done, l.abandoned = make(chan struct{}), make(chan struct{})
}

// load implements context.Context.
func (l *load) Deadline() (time.Time, bool) { return time.Time{}, false }
func (l *load) Done() <-chan struct{}       { return l.abandoned }
func (l *load) Value(any) any               { return nil }
func (l *load) Err() error {
	select {
	case <-l.abandoned:
		return context.Canceled
	default:
		return nil
	}
}

// join adds a waiter. It returns false if the load is abandoned.
func (l *load) join() bool {
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

// leave takes a waiter off. The last one abandons the load.
func (l *load) leave() {
	if l.waiters.Add(-1) == 0 {
		close(l.abandoned)
	}
}

var (
	errEnded  = errors.New("the source ended the goroutine that called it")
	errSilent = errors.New("the source said nothing of it")
)

// panicError is the error of what a source was asked for when it panicked.
func panicError(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// run decodes the blocks and makes the entries ready. A panic of the source becomes the error of its blocks, because
// nobody could recover it here.
func (l *load) run() {
	err := errEnded // by runtime.Goexit
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
		l.fail(err)
		l.publish()
	}()
	if err = l.Err(); err != nil {
		return
	}
	if vfs.IsLate(l.source.src) {
		waiting := l.source.cache.late
		if err = waiting.Acquire(l, 1); err != nil {
			return
		}
		defer waiting.Release(1)
	}
	err = errEnded
	l.source.src.Fill(l, l.blocks, l.memory)
	for _, b := range l.blocks {
		l.set(b)
	}
	err = errSilent
}

// memory lends memory for a block.
func (l *load) memory(at volume.Vec) []byte {
	e := l.find(at).entry
	if e.voxels == nil {
		e.voxels = l.source.cache.arena.alloc(l.source.bytes)
	}
	return e.voxels
}

// find returns the part of a block. Sources mostly keep to an order.
func (l *load) find(at volume.Vec) *part {
	next := int(l.next.Load())
	for i := range l.parts {
		n := (next + i) % len(l.parts)
		if l.parts[n].at == at {
			l.next.Store(int32(n + 1))
			return &l.parts[n]
		}
	}
	panic(fmt.Sprintf("block %v was not asked for", at))
}

// set takes over what the source says of a block.
func (l *load) set(b volume.Block) {
	p := l.find(b.At)
	e := p.entry
	switch {
	case b.Err != nil:
		e.err = b.Err
	case b.Voxels == nil: // if memory was lent, it was not needed
	case len(b.Voxels) != l.source.bytes:
		e.err = fmt.Errorf("block %v: %d bytes, expected %d", b.At, len(b.Voxels), l.source.bytes)
	case e.voxels == nil || &b.Voxels[0] != &e.voxels[0]:
		e.err = fmt.Errorf("block %v: its voxels are not in the memory that was lent for them", b.At)
	}
	if b.Voxels == nil || e.err != nil {
		l.source.cache.drop(e)
	}
	p.known = true
}

// fail gives an error to the blocks of which nothing is known.
func (l *load) fail(err error) {
	for i := range l.parts {
		if p := &l.parts[i]; !p.known {
			p.entry.err = fmt.Errorf("block %v: %w", p.at, err)
			l.source.cache.drop(p.entry)
		}
	}
}

// publish makes the entries ready. Those to be kept enter the window before waiters wake: otherwise a fast reader
// disturbs the order in which they were used. Entries with an error leave the index, so that the next reader tries again.
// What nobody waits for is not kept: another load may have taken its place in the index.
func (l *load) publish() {
	c := l.source.cache
	kept, briefly := make([]*entry, 0, chunkBlocks), []*entry(nil)
	bytes, failures := 0, 0
	wanted := l.Err() == nil
	for i := range l.parts {
		p := &l.parts[i]
		e := p.entry
		switch {
		case e.err != nil:
			failures++
			c.index.remove(e)
		case p.home == nil || !wanted:
		case p.home == &c.window:
			e.acquire()
			kept = append(kept, e)
		default:
			e.acquire()
			briefly = append(briefly, e)
		}
		bytes += len(e.voxels)
	}
	c.loads.Add(uint64(len(l.parts)))
	c.failures.Add(uint64(failures))
	c.bytes.Add(uint64(bytes))
	if len(briefly) > 0 {
		for _, e := range c.brief.add(briefly) { // for which a small budget has no room there
			e.brief = false
			kept = append(kept, e)
		}
		c.window.lend(c.brief.used.Load())
	}
	for _, e := range c.window.add(kept) {
		c.release(e)
	}
	for i := range l.parts {
		e := l.parts[i].entry
		e.load.Store(nil)
		c.release(e)
	}
	close(l.done)
}
