package prefetch

// detector tells readers that go through a file from one end to the other from those that read here and there.
// Offsets and lengths are in bytes of the array.
//
// Reads need not arrive in order: the kernel's readahead has several under way. What
// counts is that they leave little out. A program that maps the file and looks at one xz
// plane also moves forward steadily, but takes a row of each plane.
type detector struct {
	plane int64 // bytes of a plane

	far  span     // forgives jumps of up to slack
	near span     // since the last jump of more than nearSlack
	last [8]int64 // where the last reads began
	next int      // the oldest of these
}

const (
	slack     = 16 << 20 // how far a read of a sequential reader may be from where it was expected
	nearSlack = 1 << 20  // and one of a reader that has returned to where it was
	history   = 64 << 20 // how much of the past counts

	// A reader is sequential when it has read this much without a large gap, or a plane if that is less; and lookahead more,
	// because the page cache may ask for that for a reader that stops. History has to have room for both twice.
	sequentialLength = 24 << 20
	lookahead        = 512 << 10
	// headLength is enough at the start of the array: most programs that read on from there read all of it.
	headLength = 192 << 10
)

// observation is what a detector finds in a read.
type observation struct {
	sequential bool // the reader goes through the file
	jumped     bool // the read is not where the reader was
	returns    bool // the reader is likely to need the same blocks for its next plane
	strided    bool // it reads the same rows of one plane after the other
	overrun    bool // the reader has read to the end of a plane, and the page cache may have asked for more than it reads
}

// observe records a read.
func (d *detector) observe(off, n int64) observation {
	if d.far.seen == 0 { // the first read is nowhere near another one
		d.far = span{start: off, end: off}
		d.near = d.far
		for i := range d.last {
			d.last[i] = off
		}
	}
	strided := d.strided(off)
	d.last[d.next] = off
	d.next = (d.next + 1) % len(d.last)
	jumped := !d.far.add(off, n, slack)
	departed := !d.near.add(off, n, nearSlack)
	if !d.sequential() && d.near.covers(d.least(d.near)) {
		// The stretch in far reaches to where the reader was in between. From where it has returned to, it leaves
		// nothing out.
		d.far, jumped = d.near, true
	}
	beyond := off - (d.near.start/d.plane+1)*d.plane // of the plane that the reader began in
	adjoining := !departed && d.near.covers(0)
	return observation{
		sequential: d.sequential(),
		jumped:     jumped,
		strided:    strided,
		returns:    off == 0 || adjoining && (d.near.start == 0 || beyond >= lookahead),
		overrun:    adjoining && beyond >= 0 && beyond < lookahead && d.plane >= lookahead,
	}
}

// strideSlack is how far from the same place in the next plane a read may be, in bytes.
const strideSlack = 64 << 10

// strided reports whether a reader that is at off has just read about the same rows of the plane before, as a program does that
// copies a box, or a plane across the rows, out of a file that it has mapped.
func (d *detector) strided(off int64) bool {
	if d.plane <= 2*strideSlack {
		return false
	}
	for _, last := range d.last {
		if gap := off - last - d.plane; gap >= -strideSlack && gap <= strideSlack {
			return true
		}
	}
	return false
}

// sequential reports whether the reader goes through the file.
func (d *detector) sequential() bool { return d.far.covers(d.least(d.far)) }

// least returns how many bytes of a span a reader has to read until it is sequential.
func (d *detector) least(s span) int64 {
	if s.start == 0 && s.seen == s.end {
		return headLength
	}
	return d.enough()
}

// enough is least anywhere but at the start of the array.
func (d *detector) enough() int64 { return min(d.plane, sequentialLength) + lookahead }

// move lets a sequential reader be at off without having left anything out. It stays sequential if it reads on from there,
// also where it has been found to be so by few bytes at the start of the array.
func (d *detector) move(off int64) {
	d.far.move(off)
	if missing := d.enough() + 1 - d.far.seen; missing > 0 {
		d.far.seen += missing
		d.far.start -= missing
	}
	d.near = span{start: off, end: off}
}

// span is a stretch of a file that a reader has read from.
type span struct {
	start, end int64
	seen       int64 // bytes read of it
}

// add records a read. If it is further than slack from where the reader was expected, a new span starts with it, and add
// returns false.
func (s *span) add(off, n, slack int64) bool {
	if d := off - s.end; d < -slack || d > slack {
		*s = span{off, off + n, n}
		return false
	}
	// What is read again does not count. Near the end it fills what was left out: the kernel's reads overtake each other.
	added := max(min(off+n, s.start)-off, 0) + max(off+n-max(off, s.end), 0)
	if off >= s.end-nearSlack {
		added = n
	}
	s.start = min(s.start, off)
	s.end = max(s.end, off+n)
	s.seen = min(s.seen+added, s.end-s.start)
	if s.end-s.start > history {
		s.start = s.end - (s.end-s.start)/2
		s.seen /= 2
	}
	return true
}

// move lets the span end at off.
func (s *span) move(off int64) {
	s.start += off - s.end
	s.end = off
}

// covers reports whether the reader has read more than least bytes and left less than half of the span out.
func (s *span) covers(least int64) bool { return s.seen > least && s.seen >= (s.end-s.start)/2 }
