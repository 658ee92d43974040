package prefetch

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/wkwfs/wkwfs/internal/guard"
	"github.com/wkwfs/wkwfs/internal/span"
)

// ahead gathers what the reader of a preloaded array reads next, while the kernel copies the last reply. Gathering and copying
// take about as long, and each is the work of one core. Its fields are protected by mu of the Reader.
type ahead struct {
	next   *gathered
	unused int   // ranges that the reader did not read next
	memory int64 // bytes of the budget: aheadMemory or 0
}

// gathered is a range of an array, gathered or being gathered.
type gathered struct {
	part  span.Span     // of the array
	bytes []byte        // shorter if a block cannot be read; valid when done is closed
	done  chan struct{} // closed when the bytes are final
	users atomic.Int32  // the reader, and the goroutine that gathers
}

// maxUnused is the number of ranges after which nothing is gathered ahead any more.
const maxUnused = 2

// replies holds unused buffers of gathered bytes.
var replies = make(bufferPool, 4)

// aheadMemory is the memory for ranges of a Reader: one that is lent, one that is gathered, and those that the reader did not
// read, which may still be being gathered.
func (l *limits) aheadMemory() int64 { return (2 + maxUnused) * l.mostAhead }

// startAhead starts to gather n bytes at off from a portion of the whole array. It does nothing if there is a sink, or no memory.
// It is called with mu held.
func (r *Reader) startAhead(s *portion, off, n int64) {
	a := &r.ahead
	part := span.Of(off, n).Clip(span.Of(0, r.array.Size()))
	if r.pusher.sink.Write != nil || n < r.leastAhead || n > r.mostAhead || part.Empty() {
		return
	}
	if old := a.next; old != nil {
		if old.part.Start() == off {
			return
		}
		a.next = nil
		a.unused++
		old.release()
	}
	if a.unused >= maxUnused {
		return
	}
	if a.memory == 0 {
		if !r.prefetcher.cache.Reserve(r.aheadMemory()) {
			return
		}
		a.memory = r.aheadMemory()
	}
	g := &gathered{part: part, done: make(chan struct{})}
	g.users.Store(2)
	a.next = g
	view := r.view(0, s)
	s.hold.Acquire()
	r.pushes.Go(guard.FuncElse("prefetch.ahead", func() {
		defer g.release()
		defer close(g.done)
		defer s.hold.Release()
		memory := replies.get(r.mostAhead)
		g.bytes = memory[:0] // also after a panic
		guard.Pass("prefetch.ahead")
		g.bytes = memory[:view.read(r.ctx, memory[:part.Len()], off)]
	}, r.switchOff))
}

// release removes a user. The last one releases the memory.
func (g *gathered) release() {
	if g.users.Add(-1) == 0 {
		replies.put(g.bytes[:cap(g.bytes)])
	}
}

// Lend returns n bytes of the array from off on if they were gathered ahead, or else nil. It waits until they are gathered. The
// caller must not change them. It must call release when it does not need them any more, which may be after Close.
func (r *Reader) Lend(ctx context.Context, n, off int64) (p []byte, release func()) {
	g := r.takeAhead(n, off)
	if g == nil {
		return nil, nil
	}
	select {
	case <-g.done:
		if int64(len(g.bytes)) == n {
			return g.bytes, g.release
		}
	case <-ctx.Done():
	}
	g.release()
	return nil, nil
}

// takeAhead takes the range that was gathered ahead if it has n bytes from off on, and starts to gather the next one.
func (r *Reader) takeAhead(n, off int64) *gathered {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.ahead.next
	if g == nil || g.part != span.Of(off, n) || r.state != preloaded {
		return nil
	}
	r.lastRead = time.Now()
	r.ahead.next = nil
	if s := r.prefetcher.acquire(r.key(0)); s != nil { // it may be the portion of another Reader
		r.startAhead(s, g.part.End(), n)
		s.hold.Release()
	}
	return g
}

// dropAhead releases what was gathered ahead. It is called with mu held.
func (r *Reader) dropAhead() {
	if r.ahead.next != nil {
		r.ahead.next.release()
	}
	r.prefetcher.cache.Unreserve(r.ahead.memory)
	r.ahead = ahead{}
}
