package prefetch

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/read/flat"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/scratch"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxPushers bounds the goroutines that push at the same time. More would wait for each other in the kernel.
const maxPushers = 4

// pushers returns the number of goroutines that push a portion.
func pushers() int { return min(maxPushers, runtime.GOMAXPROCS(0)) }

// pusher pushes portions to a sink, except for their first plane, which the reader is reading. The sink then serves
// these bytes itself. If portions are parts of slabs, a portion is gone before the reader starts with the second plane
// of the slab, but the sink keeps this plane while it has room.
type pusher struct {
	array *flat.Array
	head  int64    // bytes in the file before the array
	sink  vfs.Sink // Write is nil if there is no sink

	running  sync.WaitGroup   // goroutines that push
	refused  atomic.Bool      // the sink accepts nothing more
	position atomic.Int64     // offset in the array that the reader has reached
	partial  map[int64][]byte // incomplete pages at the ends of runs of the last portion, by their offset in the file
}

// accepts reports whether there is a sink that accepts pushes.
func (p *pusher) accepts() bool { return p.sink.Write != nil && !p.refused.Load() }

// pushLater pushes a portion in a new goroutine, after it is decoded and the portion before it, if any, is pushed.
func (p *pusher) pushLater(ctx context.Context, s *portion, before <-chan struct{}, failed func(error)) {
	pushed := make(chan struct{})
	s.pushed = pushed
	s.hold.Acquire()
	p.running.Go(guard.FuncElse("prefetch.push", func() {
		defer close(pushed)
		defer s.hold.Release()
		err := s.hold.WaitAll(ctx)
		if before != nil {
			<-before // even if this portion is not pushed: the next portion waits only for this one
		}
		if err == nil {
			p.push(ctx, s)
		}
	}, failed))
}

// push pushes a decoded portion. Portions are pushed one at a time, in the order of the file.
func (p *pusher) push(ctx context.Context, s *portion) {
	guard.Pass("prefetch.push")
	switch to := newTarget(p.head, p.sink); {
	case !p.accepts():
	case s.run(0).Len() == p.array.PlaneBytes():
		p.pushPieces(ctx, s, to.planesAfterFirst(s.part), p.sink.Ahead)
	default:
		p.pushRuns(ctx, s, to)
	}
}

// read copies a span of the file to voxels. It returns false if ctx is done or a block cannot be read.
func (p *pusher) read(ctx context.Context, s *portion, voxels []byte, piece span.Span) bool {
	return s.read(ctx, voxels, piece.Start()-p.head) == len(voxels) && ctx.Err() == nil
}

// pushPieces pushes pieces of the file. Several goroutines push: one alone takes as long as two cores take to decode
// the next portion. Pieces with a damaged block are left out, and those up to ahead bytes after a sequential reader,
// because it reads them itself. For other readers, ahead is negative.
func (p *pusher) pushPieces(ctx context.Context, s *portion, pieces []span.Span, ahead int64) {
	together(pushers(), len(pieces), func(i int) bool {
		piece := pieces[i]
		if ahead >= 0 && piece.Start() < p.head+p.position.Load()+ahead {
			return true
		}
		buffer := scratch.Get(int(p.sink.Piece))
		defer scratch.Put(buffer)
		voxels := (*buffer)[:piece.Len()]
		if p.read(ctx, s, voxels, piece) && !p.sink.Write(voxels, piece.Start()) {
			p.refused.Store(true)
		}
		return ctx.Err() == nil && p.accepts()
	})
}

// pushRuns pushes a portion that contains a part of each of its planes.
func (p *pusher) pushRuns(ctx context.Context, s *portion, to target) {
	partial := map[int64][]byte{}
	buffer := scratch.Get(int(p.sink.Piece))
	defer scratch.Put(buffer)
	for piece := range to.runsAfterFirst(s.part) {
		voxels := (*buffer)[:piece.Len()]
		if !p.read(ctx, s, voxels, piece) || !p.pushRun(piece, voxels, partial) {
			p.refused.Store(true)
			return
		}
	}
	p.partial = partial
}

// pushRun pushes the whole pages of a run, a span of the file. It adds incomplete pages to partial, and completes pages
// of the portion before. It returns false if the sink refuses.
func (p *pusher) pushRun(run span.Span, voxels []byte, partial map[int64][]byte) bool {
	bytesOf := func(s span.Span) []byte { return voxels[s.Start()-run.Start() : s.End()-run.Start()] }
	whole := run.AlignIn(p.sink.Page)
	if first := run.To(whole.Start()); !first.Empty() && !p.completePage(first, bytesOf(first), partial) {
		return false
	}
	if !whole.Empty() && !p.sink.Write(bytesOf(whole), whole.Start()) {
		return false
	}
	if last := run.From(whole.End()); !last.Empty() {
		partial[last.Start()] = bytes.Clone(bytesOf(last))
	}
	return true
}

// completePage pushes the page of which part is the end or the middle, if the bytes before the part are known and it
// becomes complete. If it does not, it adds the page to partial. It returns false if the sink refuses.
func (p *pusher) completePage(part span.Span, voxels []byte, partial map[int64][]byte) bool {
	start := part.AlignOut(p.sink.Page).Start()
	var before []byte
	if start < part.Start() {
		if before = partial[start]; before == nil { // else from the plane before, which is in the portion too
			before = p.partial[start]
		}
	}
	if int64(len(before)) != part.Start()-start {
		return true // of a plane that is not pushed
	}
	page := slices.Concat(before, voxels)
	if int64(len(page)) == p.sink.Page {
		return p.sink.Write(page, start)
	}
	partial[start] = page
	return true
}
