package prefetch

// patch is a place that a reader reads, plane by plane.
type patch struct {
	first, last int64 // the planes that were read first and last
	read        run   // all that was read of a plane
	need        run   // what the reader needs of a plane, as far as known

	readahead int64 // start of the last read of the first plane
	pushed    int64 // the first plane after those that were guessed
	typical   bool  // the first read was as long as those of other patches: no page of it was in memory before
	guessed   int64 // planes that were guessed when the patch began; 0: none
	proof     bool  // the last plane that was guessed lacks a page
}

// run is a range of bytes of a plane.
type run struct{ start, end int64 }

// continues reports whether a read of plane z probably belongs to the patch.
func (q *patch) continues(z int64, read run) bool {
	switch {
	case z < q.last-1 || z > max(q.last+1, q.pushed):
		return false
	case z <= q.last || q.pushed == q.last+1 || q.proves(z):
		return read.start <= q.read.end+strideSlack && read.end >= q.read.start-strideSlack
	case z < q.pushed && q.misses(read):
		return true
	}
	return near(read.start, q.read.start)
}

// proves reports whether a read of plane z shows that the guess was right up to this plane.
func (q *patch) proves(z int64) bool { return q.proof && z == q.pushed-1 }

// misses reports whether the read is of the pages after a guess, or before it, which the reader needs as well.
func (q *patch) misses(read run) bool {
	return near(read.start, q.need.end) || near(read.end, q.need.start)
}

// near reports whether two offsets in a plane are in the same page or in neighbours. Planes need not consist of pages.
func near(a, b int64) bool { return a-b < 2*pageSize && b-a < 2*pageSize }

// planes returns the number of planes that the patch is known to have.
func (q *patch) planes() int64 { return q.last - q.first + 1 }
