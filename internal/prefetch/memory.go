package prefetch

import "time"

// The methods in this file are called with mu held, except for releaseIfIdle.

// reserveWindow reserves the memory for two portions. The portions are whole slabs if there is enough memory, or else
// parts of slabs if the sink accepts pushes. They are two slabs each if requests to the source should be long, unless a disk cache
// answers for it.
func (r *Reader) reserveWindow() bool {
	if r.array.Box().Size()[2] == 1 {
		return false // no block is needed twice
	}
	l := newLayout(r.array, r.limits)
	long := r.source.Speed().Long > 0 && l.blocks.Min[2]%r.cell[2] == 0
	thin := long && r.source.Speed().Near
	if long && !thin && r.reserve(l.thick(), true) || r.reserve(l, true) {
		r.window.thin = thin
		r.pushing = r.pusher.sink.All && r.pusher.accepts()
		return true
	}
	for l.rows /= 2; l.rows > 0 && r.pusher.accepts(); l.rows /= 2 {
		if (l.portionBytes() <= r.maxPartialPortion || l.rows == 1) && r.reserve(l, false) {
			r.pushing = true
			return true
		}
	}
	return false
}

// reserveWhole reserves the memory for the whole array, if it is small, or if it is not much larger and inSequence reports that the
// reader is sequential. If there is a sink, such a reader needs less memory for slabs that are pushed, and is as fast.
func (r *Reader) reserveWhole(inSequence bool) bool {
	l, most := newLayout(r.array, r.limits).whole(), r.maxSmall
	if inSequence && !r.pusher.accepts() {
		most = r.maxWhole
	}
	return l.portionBytes() <= most && r.reserve(l, false)
}

// isSmall reports whether all blocks of the array may be decoded by its first read.
func (r *Reader) isSmall() bool {
	return newLayout(r.array, r.limits).whole().portionBytes() <= r.maxSmall
}

// CanBeWhole reports whether the array is so small that all of its blocks are decoded at once, if memory is free and the hint is HintOnce.
func (r *Reader) CanBeWhole() bool {
	return newLayout(r.array, r.limits).whole().portionBytes() <= r.maxWhole
}

// reserve reserves the memory for a window of the layout. With reclaim, idle readers lose their portions to make room.
func (r *Reader) reserve(l layout, reclaim bool) bool {
	need := l.windowMemory()
	if !r.prefetcher.reserve(r, need, reclaim) {
		return false
	}
	r.window = newWindow(l, 2, need)
	return true
}

// releaseIfIdle releases all portions and their memory if the reader is idle. It does not wait.
func (r *Reader) releaseIfIdle(now time.Time) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	if r.window.reserved == 0 || now.Sub(r.lastRead) <= idleTime || r.window.inUse() {
		return false
	}
	r.releaseAll()
	return true
}

// releaseAll releases all portions and their memory. The state is random afterwards.
func (r *Reader) releaseAll() {
	r.dropAhead()
	for _, s := range r.window.portions {
		if s != nil {
			r.prefetcher.drop(s)
		}
	}
	if r.window.reserved > 0 {
		r.prefetcher.release(r, r.window.reserved)
	}
	r.state, r.pushing, r.window = random, false, newWindow(newLayout(r.array, r.limits), 0, 0)
}
