package prefetch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxPushers bounds the goroutines that push at the same time. More would wait for each other in the kernel.
const maxPushers = 4

// pushers returns the number of goroutines that push a portion.
func pushers() int { return min(maxPushers, runtime.GOMAXPROCS(0)) }

// pusher pushes portions to a sink, except for their first plane, which the reader is reading. The sink then serves
// these bytes itself. If portions are parts of slabs, a portion is gone before the reader starts with the second plane of
// the slab, but the sink keeps this plane while it has room.
type pusher struct {
	array *flat.Array
	head  int64    // bytes in the file before the array
	sink  vfs.Sink // Write is nil if there is no sink

	refused  atomic.Bool      // the sink accepts nothing more
	position atomic.Int64     // offset in the array that the reader has reached
	partial  map[int64][]byte // incomplete pages at the ends of runs of the last portion, by their offset in the file
}

// accepts reports whether there is a sink that accepts pushes.
func (p *pusher) accepts() bool { return p.sink.Write != nil && !p.refused.Load() }

// push pushes a decoded portion. Portions are pushed one at a time, in the order of the file.
func (p *pusher) push(ctx context.Context, s portionView) {
	switch {
	case !p.accepts():
	case s.runBytes() == p.array.PlaneBytes():
		p.pushPlanes(ctx, s)
	default:
		p.pushRuns(ctx, s)
	}
}

// pushPlanes pushes a portion of whole planes, which are one stretch of the file. Several goroutines push: one alone
// takes as long as two cores take to decode the next portion.
func (p *pusher) pushPlanes(ctx context.Context, s portionView) {
	page, piece := p.sink.Page, p.sink.Piece
	start := p.head + s.start()
	end := (start + s.planes()*p.array.PlaneBytes()) / page * page
	start = (start + p.array.PlaneBytes() + page - 1) / page * page
	if start >= end {
		return // the portion has one plane, or the other planes have no whole page
	}
	next := atomic.Int64{}
	next.Store(start / piece)
	var group sync.WaitGroup
	for range pushers() {
		group.Go(func() {
			buffer := buffers.get(piece)
			defer buffers.put(buffer)
			for !p.refused.Load() {
				at := (next.Add(1) - 1) * piece
				from, to := max(at, start), min(at+piece, end)
				switch {
				case at >= end:
					return
				case from < p.head+p.position.Load()+p.sink.Ahead: // the reader is there already
				case s.read(ctx, buffer[:to-from], from-p.head) < int(to-from), ctx.Err() != nil, !p.sink.Write(buffer[:to-from], from):
					p.refused.Store(true)
				}
			}
		})
	}
	group.Wait()
}

// pushRuns pushes a portion that contains a part of each of its planes.
func (p *pusher) pushRuns(ctx context.Context, s portionView) {
	partial := map[int64][]byte{}
	buffer := buffers.get(p.sink.Piece)
	defer buffers.put(buffer)
	for plane, run := int64(1), s.runBytes(); plane < s.planes(); plane++ {
		start := s.start() + plane*p.array.PlaneBytes()
		for at, end := start, start+run; at < end; {
			n := min(p.sink.Piece-(p.head+at)%p.sink.Piece, end-at)
			if s.read(ctx, buffer[:n], at) < int(n) || ctx.Err() != nil || !p.pushRun(p.head+at, buffer[:n], partial) {
				p.refused.Store(true)
				return
			}
			at += n
		}
	}
	p.partial = partial
}

// pushRun pushes the whole pages of a run of bytes at an offset of the file. It adds incomplete pages to partial, and
// completes pages of the portion before. It returns false if the sink refuses.
func (p *pusher) pushRun(at int64, run []byte, partial map[int64][]byte) bool {
	pageSize := p.sink.Page
	start := partial[at-at%pageSize] // from the plane before, if that is in the portion too
	if start == nil {
		start = p.partial[at-at%pageSize]
	}
	if int64(len(start)) == at%pageSize && len(start) > 0 {
		n := min(int(pageSize)-len(start), len(run))
		page := append(start[:len(start):len(start)], run[:n]...)
		if len(page) < int(pageSize) {
			partial[at-at%pageSize] = page
		} else if !p.sink.Write(page, at-at%pageSize) {
			return false
		}
	}
	first := (at + pageSize - 1) / pageSize * pageSize
	last := (at + int64(len(run))) / pageSize * pageSize
	if first < last && !p.sink.Write(run[first-at:last-at], first) {
		return false
	}
	if last >= at && last < at+int64(len(run)) {
		partial[last] = append([]byte(nil), run[last-at:]...)
	}
	return true
}

// buffers holds unused buffers for pushes. Each push has its own: a Reader that lost its portions may still push them when it starts
// others.
var buffers = make(bufferPool, 2*maxPushers)

// bufferPool holds unused buffers. A sync.Pool would lose them at each garbage collection.
type bufferPool chan []byte

// get returns a buffer of n bytes.
func (b bufferPool) get(n int64) []byte {
	select {
	case p := <-b:
		if int64(cap(p)) >= n {
			return p[:n]
		}
	default:
	}
	return make([]byte, n)
}

// put makes a buffer available to others.
func (b bufferPool) put(p []byte) {
	select {
	case b <- p:
	default:
	}
}
