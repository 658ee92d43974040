package prefetch

// The methods in this file are called with mu held. Portions of a source that wants long requests are two slabs. They are thin, one slab,
// while a disk cache answers for it: these need half of the memory.

// outgrown reports whether the disk cache no longer answers, and a portion of two slabs can start where portion i does.
func (r *Reader) outgrown(i int) bool {
	return r.window.thin && i%r.cell[2] == 0 && !r.window.started[i] && !r.source.Speed().Near
}

// thicken makes portions of two slabs, from portion i on, which is not started, and returns its new number. The thin portions before it
// leave the window as the reader goes on. Their blocks are found through the cache until then. If there is not enough memory, portions stay
// thin.
func (r *Reader) thicken(i int) int {
	w := &r.window
	w.thin = false
	l := w.layout.thick()
	three := 3 * l.portionMemory() // two thin portions and a thick one; then three of these
	grown := three <= r.maxWindowBytes && r.growTo(three)
	if !grown && !r.growTo(l.windowMemory()) {
		return i
	}
	i /= l.slabs
	w.layout, w.reached, w.grownAt = l, w.reached/l.slabs, i
	w.started = map[int]bool{i - 1: true}
	if grown {
		w.grow()
	}
	return i
}

// growTo reserves memory until the reader has n bytes, and reports whether it was possible.
func (r *Reader) growTo(n int64) bool {
	if n > r.window.reserved && !r.prefetcher.reserve(r, n-r.window.reserved, false) {
		return false
	}
	r.window.reserved = max(r.window.reserved, n)
	return true
}
