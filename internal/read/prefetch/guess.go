package prefetch

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/volume"
)

// maxGuesses is the number of guesses of a Reader that are loaded or pushed at a time.
const maxGuesses = 4

// startGuess starts to load the blocks of a guess, and to push it. end is the end of the read that led to it. It returns a
// channel that is closed when the guess is pushed. It does nothing and returns nil if there is no sink, or no memory. It
// is called with mu held.
func (r *Reader) startGuess(g guess, end int64) <-chan struct{} {
	if g.run.Empty() || !r.pusher.sink.All || !r.pusher.accepts() || r.guesses >= maxGuesses {
		return nil
	}
	plane := r.array.PlaneBytes()
	reached := end - (g.from-1)*plane // in the plane that is being read
	if reached > plane {
		return nil // the read goes on in the next plane
	}
	var rest span.Span // of the plane that is being read
	if reached > g.run.Start() {
		rest = g.run.From(reached)
	}
	if g.from >= g.to && rest.Empty() {
		return nil
	}
	view, memory := r.loadGuess(g)
	if view.portion == nil {
		return nil
	}
	r.guesses++
	pushed := make(chan struct{})
	r.pushes.Go(guard.FuncElse("prefetch.guess", func() {
		defer r.endGuess(view.portion, memory)
		defer close(pushed)
		guard.Pass("prefetch.guess")
		r.pusher.pushRows(r.ctx, view, rest, g.from-1)
		r.pusher.pushGuess(r.ctx, view, g)
	}, r.switchOff))
	return pushed
}

// loadGuess starts to load the blocks of a guess and of the same rows in the plane before. It returns them and the memory
// that is reserved for them, or no portion if there is none.
func (r *Reader) loadGuess(g guess) (portionView, int64) {
	key, box := r.guessBlocks(g)
	memory := cache.BlockMemory(key.blockBytes)
	if memory > r.maxGuess {
		return portionView{}, 0
	}
	for _, n := range key.blocks.Size() {
		memory *= min(int64(n), r.maxGuess) // does not overflow: one size at most is large
	}
	if memory == 0 || memory > r.maxGuess {
		return portionView{}, 0
	}
	memory += int64(pushers()) * r.pusher.sink.Piece
	if !r.prefetcher.cache.Reserve(memory) {
		return portionView{}, 0
	}
	var s *portion
	defer func() {
		if s == nil { // the cache is closed, or after a panic
			r.prefetcher.cache.Unreserve(memory)
		}
	}()
	s, err := r.newPortion(r.source, key, cache.ShortTerm, false)
	if err != nil {
		return portionView{}, 0
	}
	return portionView{s, r.array, box}, memory
}

// guessBlocks returns the blocks of a guess, and the part of the array that they cover.
func (r *Reader) guessBlocks(g guess) (portionKey, volume.Box) {
	plane, box, side := r.array.PlaneBytes(), r.array.Box(), r.array.Grid().Block
	rows := g.run
	if plane%r.page != 0 || (r.pusher.head+rows.Start())%r.page != 0 {
		rows = rows.Grow(r.page).To(plane) // the pages of other planes start elsewhere
	}
	firstY, firstZ := r.array.RowAt((g.from-1)*plane + rows.Start())
	lastY, lastZ := r.array.RowAt((g.to-1)*plane + rows.End() - 1)
	box = volume.Box{Min: volume.Vec{box.Min[0], firstY, firstZ}, Max: volume.Vec{box.Max[0], lastY + 1, lastZ + 1}}.Div(side).Mul(side).Intersect(box)
	return portionKey{r.version, r.array.Grid().BlockBytes(), validBlocksIn(r.array, box)}, box
}

// endGuess releases the memory of a guess.
func (r *Reader) endGuess(s *portion, memory int64) {
	s.hold.Close()
	r.prefetcher.cache.Unreserve(memory)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guesses--
}

// pushGuess pushes the pages of a guess, plane by plane. Pages with a damaged block are left out.
func (p *pusher) pushGuess(ctx context.Context, s portionView, g guess) {
	next := atomic.Int64{}
	next.Store(g.from)
	p.together(runtime.NumCPU(), func() {
		for z := next.Add(1) - 1; z < g.to && ctx.Err() == nil && p.accepts(); z = next.Add(1) - 1 {
			before, after := p.runs(g, z)
			p.pushRows(ctx, s, before, z)
			p.pushRows(ctx, s, after, z)
		}
	})
}

// runs returns the run of plane z of a guess, or the parts of it before and after the page that is left out.
func (p *pusher) runs(g guess, z int64) (before, after span.Span) {
	if !g.proof || z < g.to-1 {
		return g.run, span.Span{}
	}
	start := p.head + z*p.array.PlaneBytes() // in the file
	middle := g.run.Start() + g.run.Len()/2
	page := span.Of((start+middle)/p.sink.Page*p.sink.Page, p.sink.Page).Add(-start)
	return g.run.To(page.Start()), g.run.From(page.End())
}

// pushRows pushes the pages of a run of plane z, without those that reach into other planes. It stops at a block that cannot be read.
func (p *pusher) pushRows(ctx context.Context, s portionView, rows span.Span, z int64) {
	plane := p.inFile(span.Of(z*p.array.PlaneBytes(), p.array.PlaneBytes()))
	pages := rows.Add(plane.Start()).AlignOut(p.sink.Page).Clip(plane.AlignIn(p.sink.Page))
	if rows.Empty() || pages.Empty() {
		return
	}
	buffer := buffers.get(p.sink.Piece)
	defer buffers.put(buffer)
	for !pages.Empty() {
		piece := pages.To(pages.Start() + p.sink.Piece)
		if !p.read(ctx, s, buffer, piece) {
			return
		}
		if !p.sink.Write(buffer[:piece.Len()], piece.Start()) {
			p.refused.Store(true)
			return
		}
		pages = pages.From(piece.End())
	}
}
