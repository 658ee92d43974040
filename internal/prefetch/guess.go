package prefetch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/volume"
)

// maxGuesses is the number of guesses of a Reader that are loaded or pushed at a time.
const maxGuesses = 4

// startGuess starts to load the blocks of a guess, and to push it. end is the end of the read that led to it. It returns a
// channel that is closed when the guess is pushed. It does nothing and returns nil if there is no sink, or no memory. It
// is called with mu held.
func (r *Reader) startGuess(g guess, end int64) <-chan struct{} {
	if g.start >= g.end || !r.pusher.sink.All || !r.pusher.accepts() || r.guesses >= maxGuesses {
		return nil
	}
	rest := run{end - (g.from-1)*r.array.PlaneBytes(), g.end} // of the plane that is being read
	if rest.start > r.array.PlaneBytes() {
		return nil // the read goes on in the next plane
	}
	if rest.start <= g.start || rest.start >= g.end {
		rest = run{}
	}
	if g.from == g.to && rest == (run{}) {
		return nil
	}
	view, memory := r.loadGuess(g)
	if view.portion == nil {
		return nil
	}
	r.guesses++
	pushed := make(chan struct{})
	r.pushes.Go(func() {
		defer r.endGuess(view.portion, memory)
		defer close(pushed)
		r.pusher.pushRows(r.ctx, view, rest, g.from-1)
		r.pusher.pushGuess(r.ctx, view, g)
	})
	return pushed
}

// loadGuess starts to load the blocks of a guess and of the same rows in the plane before. It returns them and the memory
// that is reserved for them, or no portion if there is none.
func (r *Reader) loadGuess(g guess) (portionView, int64) {
	key, box := r.guessBlocks(g)
	memory := cache.BlockMemory(key.blockBytes)
	if memory > maxGuess {
		return portionView{}, 0
	}
	for _, n := range key.blocks.Size() {
		memory *= min(int64(n), maxGuess) // does not overflow: one size at most is large
	}
	if memory == 0 || memory > maxGuess {
		return portionView{}, 0
	}
	memory += int64(pushers()) * r.pusher.sink.Piece
	if !r.prefetcher.cache.Reserve(memory) {
		return portionView{}, 0
	}
	s, err := newPortion(r.source, key, cache.ShortTerm, false)
	if err != nil { // the cache is closed
		r.prefetcher.cache.Unreserve(memory)
		return portionView{}, 0
	}
	return portionView{s, r.array, box}, memory
}

// guessBlocks returns the blocks of a guess, and the part of the array that they cover.
func (r *Reader) guessBlocks(g guess) (portionKey, volume.Box) {
	plane, box, side := r.array.PlaneBytes(), r.array.Box(), r.array.Grid().Block
	if plane%pageSize != 0 || (r.pusher.head+g.start)%pageSize != 0 {
		g.start, g.end = max(g.start-pageSize, 0), min(g.end+pageSize, plane) // the pages of other planes start elsewhere
	}
	firstY, firstZ := r.array.RowAt((g.from-1)*plane + g.start)
	lastY, lastZ := r.array.RowAt((g.to-1)*plane + g.end - 1)
	rows := volume.Box{Min: volume.Vec{box.Min[0], firstY, firstZ}, Max: volume.Vec{box.Max[0], lastY + 1, lastZ + 1}}
	box = rows.Div(side).Mul(side).Intersect(box)
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
	var group sync.WaitGroup
	for range min(pushers(), runtime.NumCPU()) {
		group.Go(func() {
			for z := next.Add(1) - 1; z < g.to && ctx.Err() == nil && p.accepts(); z = next.Add(1) - 1 {
				before, after := p.runs(g, z)
				p.pushRows(ctx, s, before, z)
				p.pushRows(ctx, s, after, z)
			}
		})
	}
	group.Wait()
}

// runs returns the run of plane z of a guess, or the parts of it before and after the page that is left out.
func (p *pusher) runs(g guess, z int64) (before, after run) {
	if !g.proof || z < g.to-1 {
		return g.run, run{}
	}
	start := p.head + z*p.array.PlaneBytes() // in the file
	page := (start+(g.start+g.end)/2)/p.sink.Page*p.sink.Page - start
	return run{g.start, page}, run{page + p.sink.Page, g.end}
}

// pushRows pushes the pages of a run of plane z, without those that reach into other planes.
func (p *pusher) pushRows(ctx context.Context, s portionView, rows run, z int64) {
	page, plane := p.sink.Page, p.array.PlaneBytes()
	first := (p.head + z*plane + page - 1) / page * page // in the file, as at and end
	at := max((p.head+z*plane+rows.start)/page*page, first)
	end := min((p.head+z*plane+rows.end+page-1)/page*page, (p.head+(z+1)*plane)/page*page)
	if at >= end {
		return
	}
	buffer := buffers.get(p.sink.Piece)
	defer buffers.put(buffer)
	for at < end {
		n := min(p.sink.Piece, end-at)
		if s.read(ctx, buffer[:n], at-p.head) < int(n) {
			return
		}
		if !p.sink.Write(buffer[:n], at) {
			p.refused.Store(true)
			return
		}
		at += n
	}
}
