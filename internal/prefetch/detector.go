package prefetch

// detector distinguishes readers that read a file from one end to the other from readers of random places. Offsets
// and lengths are in bytes of the array.
//
// Reads need not arrive in order, because the kernel's readahead has several in flight. A sequential reader is one
// that leaves few gaps. A program that maps the file and reads an xz plane also moves forward steadily, but it reads
// only a row of each plane.
type detector struct {
	plane int64 // size of a plane

	wide   span // tolerates jumps of up to wideSlack
	narrow span // tolerates jumps of up to narrowSlack
}

const (
	wideSlack   = 16 << 20 // maximum distance of a sequential read from the end of the reads before
	narrowSlack = 1 << 20  // the same for a reader that has returned to a place
	history     = 64 << 20 // length of a span; longer ones lose their older half

	// A reader is sequential when it has read this much, or a plane if that is less, without a large gap; and
	// kernelReadahead more, because the kernel may read that much ahead of a reader that stops. history must have
	// room for twice the sum.
	sequentialLength = 24 << 20
	kernelReadahead  = 512 << 10
	// The kernel reads at least leastReadahead at once for a reader of more than that, from the start of a page on.
	leastReadahead = 64 << 10
	// headLength is enough at the start of the array: most programs that read more than this read all of it.
	headLength = 192 << 10
)

// observation is what a detector finds out about a read.
type observation struct {
	sequential  bool // the reader reads the file from one end to the other
	jumped      bool // the read is far from the reads before
	needsAgain  bool // the reader probably needs the same blocks for its next plane
	startsPlane bool // the reader has come to a plane, and its first large read of it is this one
	isReadahead bool // the read is probably the kernel's readahead past the end of the plane that the reader reads
}

// observe records a read of n bytes.
func (d *detector) observe(off, n int64) observation {
	if d.wide.covered == 0 { // the first read does not jump
		d.wide = span{start: off, end: off}
		d.narrow = d.wide
	}
	jumped := !d.wide.add(off, n, wideSlack)
	contiguous := d.narrow.add(off, n, narrowSlack)
	if !d.sequential() && d.narrow.dense(d.threshold(d.narrow)) {
		// The wide span also contains the place where the reader was in between. Since its return, the reader left no
		// gap.
		d.wide, jumped = d.narrow, true
	}
	first := (d.narrow.start + pageSize - 1) / d.plane // the plane in which the reader started
	pastPlane := off + pageSize - 1 - (first+1)*d.plane
	contiguous = contiguous && d.narrow.dense(0)
	return observation{
		sequential:  d.sequential(),
		jumped:      jumped,
		needsAgain:  off == 0 || contiguous && (d.narrow.start == 0 || pastPlane >= kernelReadahead),
		startsPlane: d.startsPlane(off, n),
		isReadahead: contiguous && pastPlane >= 0 && pastPlane < kernelReadahead && d.plane >= kernelReadahead,
	}
}

// startsPlane reports whether the reader has jumped to the start of a plane, and its first read there is this one. Another of the
// kernel's reads may have overtaken it.
func (d *detector) startsPlane(off, n int64) bool {
	return n >= leastReadahead && n <= d.plane && off > 0 && (off+pageSize-1)%d.plane < pageSize &&
		off == d.narrow.start && d.narrow.end-off <= kernelReadahead
}

// sequential reports whether the reader reads the file from one end to the other.
func (d *detector) sequential() bool { return d.wide.dense(d.threshold(d.wide)) }

// threshold returns how many bytes of a span a sequential reader has read at least.
func (d *detector) threshold(s span) int64 {
	if s.start == 0 && s.covered == s.end {
		return headLength
	}
	return d.usualThreshold()
}

// usualThreshold is the threshold anywhere but at the start of the array.
func (d *detector) usualThreshold() int64 { return min(d.plane, sequentialLength) + kernelReadahead }

// skipTo moves a sequential reader to off as if it had read everything up to there. It stays sequential if it reads
// on from off, even if it became sequential by few bytes at the start of the array.
func (d *detector) skipTo(off int64) {
	d.wide.moveEnd(off)
	if missing := d.usualThreshold() + 1 - d.wide.covered; missing > 0 {
		d.wide.covered += missing
		d.wide.start -= missing
	}
	d.narrow = span{start: off, end: off}
}
