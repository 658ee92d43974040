package prefetch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/flat"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// maxPushers is how many goroutines push, if there are as many cores. More would wait for each other in the kernel.
const maxPushers = 4

// pusher pushes slabs to a sink, all but the first plane, which the reader is going through. What was taken is not asked for.
// Where slabs have not all rows of their planes, a slab is gone by the time the reader starts with the second plane; but the
// sink has that as long as there is room.
type pusher struct {
	array *flat.Array
	head  int64    // bytes in the file before the array
	sink  vfs.Sink // without a function there is none

	refused atomic.Bool      // nothing more is welcome
	reader  atomic.Int64     // how far the reader has read in the array
	rests   map[int64][]byte // incomplete pages at the ends of runs, by their offset in the file
}

// welcome reports whether there is a sink that takes what is pushed.
func (q *pusher) welcome() bool { return q.sink.Write != nil && !q.refused.Load() }

// push pushes a slab that is decoded. One slab is pushed at a time, in the order of the file.
func (q *pusher) push(ctx context.Context, s part) {
	switch {
	case !q.welcome():
	case s.run() == q.array.Plane():
		q.pushPlanes(ctx, s)
	default:
		q.pushRuns(ctx, s)
	}
}

// pieces is memory for what is pushed at once, that nobody uses. A sync.Pool would lose it at each garbage collection. Pushes of a
// Reader that has lost its slabs may still be under way when it begins others: each has memory of its own.
var pieces = make(chan []byte, 2*maxPushers)

// takePiece returns memory for n bytes, for the caller to give back.
func takePiece(n int64) []byte {
	select {
	case p := <-pieces:
		if int64(cap(p)) >= n {
			return p[:n]
		}
	default:
	}
	return make([]byte, n)
}

func givePiece(p []byte) {
	select {
	case pieces <- p:
	default:
	}
}

// pushPlanes pushes a slab of whole planes, which is one stretch of the file, from some goroutines at once: one of them takes
// as long as it takes two cores to decode the next slab.
func (q *pusher) pushPlanes(ctx context.Context, s part) {
	page, piece := q.sink.Page, q.sink.Piece
	start := q.head + s.start()
	end := (start + s.planes()*q.array.Plane()) / page * page
	start = (start + q.array.Plane() + page - 1) / page * page
	next := atomic.Int64{}
	next.Store(start / piece)
	var group sync.WaitGroup
	for range min(maxPushers, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			memory := takePiece(piece)
			defer givePiece(memory)
			for !q.refused.Load() {
				at := (next.Add(1) - 1) * piece
				from, to := max(at, start), min(at+piece, end)
				switch {
				case at >= end:
					return
				case from < q.head+q.reader.Load()+q.sink.Ahead: // too late: it is being read
				case s.read(ctx, memory[:to-from], from-q.head) < int(to-from), ctx.Err() != nil, !q.sink.Write(memory[:to-from], from):
					q.refused.Store(true)
				}
			}
		})
	}
	group.Wait()
}

// pushRuns pushes a slab that has a part of each of its planes.
func (q *pusher) pushRuns(ctx context.Context, s part) {
	rests := map[int64][]byte{}
	memory := takePiece(q.sink.Piece)
	defer givePiece(memory)
	for z, run := int64(1), s.run(); z < s.planes(); z++ {
		start := s.start() + z*q.array.Plane()
		for at, end := start, start+run; at < end; {
			n := min(q.sink.Piece-(q.head+at)%q.sink.Piece, end-at)
			if s.read(ctx, memory[:n], at) < int(n) || ctx.Err() != nil || !q.pushRun(q.head+at, memory[:n], rests) {
				q.refused.Store(true)
				return
			}
			at += n
		}
	}
	q.rests = rests
}

// pushRun pushes the whole pages of bytes that lie at an offset of the file, and keeps what
// is left. It returns false if they are not welcome.
func (q *pusher) pushRun(at int64, run []byte, rests map[int64][]byte) bool {
	pageSize := q.sink.Page
	before := rests[at-at%pageSize] // of the plane before, if that is in the slab too
	if before == nil {
		before = q.rests[at-at%pageSize]
	}
	if int64(len(before)) == at%pageSize && len(before) > 0 {
		n := min(int(pageSize)-len(before), len(run))
		page := append(before[:len(before):len(before)], run[:n]...)
		if len(page) < int(pageSize) {
			rests[at-at%pageSize] = page
		} else if !q.sink.Write(page, at-at%pageSize) {
			return false
		}
	}
	first := (at + pageSize - 1) / pageSize * pageSize
	last := (at + int64(len(run))) / pageSize * pageSize
	if first < last && !q.sink.Write(run[first-at:last-at], first) {
		return false
	}
	if last >= at && last < at+int64(len(run)) {
		rests[last] = append([]byte(nil), run[last-at:]...)
	}
	return true
}
