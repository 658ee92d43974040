package prefetch

// detector distinguishes readers that read a file from one end to the other from readers of random places. Offsets
// and lengths are in bytes of the array.
//
// Reads need not arrive in order, because the kernel's readahead has several in flight. A sequential reader is one
// that leaves few gaps. A program that maps the file and reads an xz plane also moves forward steadily, but it reads
// only a row of each plane.
type detector struct {
	*limits
	plane int64 // size of a plane
	head  int64 // a reader of more than this from the start of the array on is sequential

	wide   stretch // tolerates jumps of up to wideSlack
	narrow stretch // tolerates jumps of up to narrowSlack
}

// observation is what a detector finds out about a read.
type observation struct {
	sequential  bool // the reader reads the file from one end to the other
	jumped      bool // the read is far from the reads before
	needsAgain  bool // the reader probably needs the same blocks for its next plane
	isReadahead bool // the read is probably the kernel's readahead past the end of the plane that the reader reads
}

// observe records a read of n bytes.
func (d *detector) observe(off, n int64) observation {
	if d.wide.covered == 0 { // the first read does not jump
		d.wide = stretch{start: off, end: off}
		d.narrow = d.wide
	}
	jumped := !d.wide.add(off, n, d.wideSlack, d.limits)
	contiguous := d.narrow.add(off, n, d.narrowSlack, d.limits)
	if !d.sequential() && d.narrow.dense(d.threshold(d.narrow)) {
		// The wide stretch also contains the place where the reader was in between. Since its return, the reader left no
		// gap.
		d.wide, jumped = d.narrow, true
	}
	first := (d.narrow.start + d.page - 1) / d.plane // the plane in which the reader started
	pastPlane := off + d.page - 1 - (first+1)*d.plane
	contiguous = contiguous && d.narrow.dense(0)
	return observation{
		sequential:  d.sequential(),
		jumped:      jumped,
		needsAgain:  off == 0 || contiguous && (d.narrow.start == 0 || pastPlane >= d.kernelReadahead),
		isReadahead: contiguous && pastPlane >= 0 && pastPlane < d.kernelReadahead && d.plane >= d.kernelReadahead,
	}
}

// sequential reports whether the reader reads the file from one end to the other.
func (d *detector) sequential() bool { return d.wide.dense(d.threshold(d.wide)) }

// threshold returns how many bytes of a stretch a sequential reader has read at least.
func (d *detector) threshold(s stretch) int64 {
	if s.start == 0 && s.covered == s.end {
		return d.head
	}
	return d.usualThreshold()
}

// usualThreshold is the threshold anywhere but at the start of the array.
func (d *detector) usualThreshold() int64 {
	return min(d.plane, d.sequentialLength) + d.kernelReadahead
}

// skipTo moves a sequential reader to off as if it had read everything up to there. It stays sequential if it reads
// on from off, even if it became sequential by few bytes at the start of the array.
func (d *detector) skipTo(off int64) {
	d.wide.moveEnd(off)
	if missing := d.usualThreshold() + 1 - d.wide.covered; missing > 0 {
		d.wide.covered += missing
		d.wide.start -= missing
	}
	d.narrow = stretch{start: off, end: off}
}
