package prefetch

import "github.com/wkwfs/wkwfs/internal/small/span"

// patch is a place that a reader reads, plane by plane.
type patch struct {
	first, last int64     // the planes that were read first and last
	read        span.Span // all that was read of a plane
	need        span.Span // what the reader needs of a plane, as far as known

	readahead int64 // start of the last read of the first plane
	pushed    int64 // the first plane after those that were guessed
	typical   bool  // the first read was as long as those of other patches: no page of it was in memory before
	guessed   int64 // planes that were guessed when the patch began; 0: none
	proof     bool  // the last plane that was guessed lacks a page
}

// continues reports whether a read of plane z probably belongs to patch q.
func (p *patches) continues(q *patch, z int64, read span.Span) bool {
	switch {
	case z < q.last-1 || z > max(q.last+1, q.pushed):
		return false
	case z <= q.last || q.pushed == q.last+1 || q.proves(z):
		return read.Start() <= q.read.End()+p.strideSlack && read.End() >= q.read.Start()-p.strideSlack
	case z < q.pushed && p.misses(q, read):
		return true
	}
	return p.near(read.Start(), q.read.Start())
}

// proves reports whether a read of plane z shows that the guess was right up to this plane.
func (q *patch) proves(z int64) bool { return q.proof && z == q.pushed-1 }

// misses reports whether the read is of the pages after a guess of patch q, or before it, which the reader needs as well.
func (p *patches) misses(q *patch, read span.Span) bool {
	return p.near(read.Start(), q.need.End()) || p.near(read.End(), q.need.Start())
}

// near reports whether two offsets in a plane are in the same page or in neighbours. Planes need not consist of pages.
func (p *patches) near(a, b int64) bool { return a-b < 2*p.page && b-a < 2*p.page }

// planes returns the number of planes that the patch is known to have.
func (q *patch) planes() int64 { return q.last - q.first + 1 }
