package prefetch

import "slices"

// The methods in this file are called with mu held. Portions of a source that wants long requests are two slabs. They are thin, one slab,
// while a disk cache answers for it: these need half of the memory.

// outgrown reports whether the disk cache no longer answers, and a portion of two slabs can start where portion i does.
func (r *Reader) outgrown(i int) bool {
	return r.thin && i%cell[2] == 0 && !r.started[i] && !r.source.Near()
}

// thicken makes portions of two slabs, from portion i on, which is not started, and returns its new number. The thin portions before it
// leave the window as the reader goes on. Their blocks are found through the cache until then. If there is not enough memory, portions stay
// thin.
func (r *Reader) thicken(i int) int {
	r.thin = false
	l := r.layout.thick()
	three := 3 * l.portionMemory() // two thin portions and a thick one; then three of these
	grown := three <= maxWindowBytes && r.growTo(three)
	if !grown && !r.growTo(l.windowMemory()) {
		return i
	}
	i /= l.slabs
	r.layout, r.reached, r.grownAt = l, r.reached/l.slabs, i
	r.started = map[int]bool{i - 1: true}
	if grown {
		r.window = slices.Insert(r.window, r.oldest, nil)
	}
	return i
}

// growTo reserves memory until the reader has n bytes, and reports whether it was possible.
func (r *Reader) growTo(n int64) bool {
	if n > r.reserved && !r.prefetcher.reserve(r, n-r.reserved, false) {
		return false
	}
	r.reserved = max(r.reserved, n)
	return true
}
