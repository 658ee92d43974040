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
	speed := r.source.Speed()
	long := speed.Long > 0 && l.blocks.Min[2]%r.cell[2] == 0
	thin := long && speed.Near
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

// isSmall reports whether the array is decoded by a read that has all of it, and as soon as a reader with HintOnce starts to read it.
func (r *Reader) isSmall() bool { return newLayout(r.array, r.limits).arrayBytes() <= r.maxSmall }

// IsReadOnce reports whether a program that reads all of the array once, in large pieces, needs no page cache.
func (r *Reader) IsReadOnce() bool { return newLayout(r.array, r.limits).arrayBytes() <= r.maxOnce }

// reserve reserves the memory for a window of the layout. With reclaim, idle readers lose their portions to make room. An array that is
// read once is requested from a late source at once, if there is memory.
func (r *Reader) reserve(l layout, reclaim bool) bool {
	if all := int64(l.count()) * l.portionMemory(); r.hint == HintOnce && r.IsReadOnce() && r.source.Speed().Late && r.prefetcher.reserve(r, all, false) {
		r.window = newWindow(l, max(l.count(), 2), all)
		return true
	}
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
