package view

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// pageSize is that of the page cache; it takes whole pages only.
	pageSize = 4096
	// pushSize is how much is pushed at once: less than a core's own cache has room for.
	pushSize = 256 << 10
	// pushers is how many goroutines push, if there are as many cores. More would wait for each other
	// in the kernel.
	pushers = 4
)

// pusher offers slabs to the page cache, all but the first plane, through which the reader comes
// meanwhile. What was taken is not asked for. And where slabs have not all rows of their planes, a slab
// has gone by the time the reader begins with the second plane; but that is found in the page
// cache as long as there is room.
type pusher struct {
	flat *Flat
	head int64                                 // bytes in the file before the array
	take func(p []byte, off int64) (more bool) // nil: there is no page cache
	all  bool                                  // take also what need not be made anew

	refused atomic.Bool      // nothing more is welcome
	reader  atomic.Int64     // how far the reader has come in the array
	rests   map[int64][]byte // by where they begin in the file: begun pages at the ends of runs
}

// welcome reports whether there is a page cache that takes what is pushed.
func (q *pusher) welcome() bool { return q.take != nil && !q.refused.Load() }

// push offers a slab. One slab is pushed at a time, in the order of the file.
func (q *pusher) push(ctx context.Context, s *slab) {
	if !q.welcome() {
		return
	}
	if s.run(q.flat) == q.flat.plane {
		q.pushPlanes(ctx, s)
	} else {
		q.pushRuns(ctx, s)
	}
}

// pushPlanes offers a slab of whole planes, which is one stretch of the file, by some goroutines at once: one of them takes
// as long as it takes two cores to decode the next slab.
func (q *pusher) pushPlanes(ctx context.Context, s *slab) {
	begin := q.head + s.begin(q.flat)
	end := (begin + s.planes()*q.flat.plane) / pageSize * pageSize
	begin = (begin + q.flat.plane + pageSize - 1) / pageSize * pageSize
	first := begin / pushSize
	_ = parallelOn(min(pushers, runtime.NumCPU()), int((end+pushSize-1)/pushSize-first), func(i int) error {
		at := (first + int64(i)) * pushSize
		from, to := max(at, begin), min(at+pushSize, end)
		if from >= to || from < q.head+q.reader.Load()+ahead {
			return nil // too late: it is being read
		}
		piece := pieces.Get().(*[pushSize]byte)
		defer pieces.Put(piece)
		s.read(q.flat, piece[:to-from], from-q.head)
		if ctx.Err() != nil || !q.take(piece[:to-from], from) {
			q.refused.Store(true)
			return errRefused
		}
		return nil
	})
}

var (
	pieces     = sync.Pool{New: func() any { return new([pushSize]byte) }}
	errRefused = errors.New("the page cache has no room") // ends pushing, and is told to nobody
)

// pushRuns offers a slab that has a part of each of its planes.
func (q *pusher) pushRuns(ctx context.Context, s *slab) {
	rests := map[int64][]byte{}
	piece := pieces.Get().(*[pushSize]byte)
	defer pieces.Put(piece)
	for z, run := int64(1), s.run(q.flat); z < s.planes(); z++ {
		begin := s.begin(q.flat) + z*q.flat.plane
		for at, end := begin, begin+run; at < end; {
			n := min(pushSize-(q.head+at)%pushSize, end-at)
			s.read(q.flat, piece[:n], at)
			if ctx.Err() != nil || !q.pushRun(q.head+at, piece[:n], rests) {
				q.refused.Store(true)
				return
			}
			at += n
		}
	}
	q.rests = rests
}

// pushRun offers the whole pages of bytes that lie at a place in the file, and keeps what
// is left. It returns false if they are not welcome.
func (q *pusher) pushRun(at int64, run []byte, rests map[int64][]byte) bool {
	before := rests[at-at%pageSize] // of the plane before, if that is in the slab too
	if before == nil {
		before = q.rests[at-at%pageSize]
	}
	if int64(len(before)) == at%pageSize && len(before) > 0 {
		n := min(pageSize-len(before), len(run))
		page := append(before[:len(before):len(before)], run[:n]...)
		if len(page) < pageSize {
			rests[at-at%pageSize] = page
		} else if !q.take(page, at-at%pageSize) {
			return false
		}
	}
	first := (at + pageSize - 1) / pageSize * pageSize
	last := (at + int64(len(run))) / pageSize * pageSize
	if first < last && !q.take(run[first-at:last-at], first) {
		return false
	}
	if last >= at && last < at+int64(len(run)) {
		rests[last] = append([]byte(nil), run[last-at:]...)
	}
	return true
}
