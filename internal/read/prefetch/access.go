package prefetch

import (
	"github.com/wkwfs/wkwfs/cache"
	"github.com/wkwfs/wkwfs/internal/read/flat"
)

// access is how a file is read, as far as the offsets and lengths of its reads tell. It is pure, as a [plan] is.
type access struct {
	hint     Hint
	detector detector
	patches  patches
}

// habit is what a read tells about its reader.
type habit struct {
	sequential bool       // it reads the file from one end to the other
	jumped     bool       // the read is far from the reads before
	keep       cache.Keep // what the cache keeps of blocks that are in no portion
	next       guess      // what a reader of patches probably reads next
}

// newAccess returns the access of an array that was not read yet. Guesses may use some memory. fromFirst says that any
// read at the start makes the reader sequential.
func newAccess(a *flat.Array, h Hint, fromFirst bool, memory int64, l *limits) access {
	d := detector{limits: l, plane: a.PlaneBytes(), head: l.headLength}
	if fromFirst {
		d.head = 0
	}
	return access{hint: h, detector: d, patches: newPatches(a, memory, l)}
}

// observe records a read of n bytes.
func (a *access) observe(off, n int64) habit {
	if a.hint == HintSequential {
		return habit{sequential: true, keep: cache.Always}
	}
	o, strided := a.detector.observe(off, n), false
	h := habit{sequential: o.sequential, jumped: o.jumped, keep: cache.IfSeen}
	if !o.isReadahead {
		strided, h.next = a.patches.observe(off, n)
	}
	switch {
	case o.needsAgain:
		h.keep = cache.Always
	case o.isReadahead:
		h.keep = cache.Never
	case strided:
		h.keep = cache.ShortTerm
	}
	return h
}

// skipTo records that a sequential reader has come to off, and has found what lies before in the page cache.
func (a *access) skipTo(off int64) habit {
	a.detector.skipTo(max(a.end(), off))
	return habit{sequential: true, keep: cache.Always}
}

// end returns the offset that the reader has reached.
func (a *access) end() int64 { return a.detector.wide.end }

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
		// The wide stretch also contains the place where the reader was in between. Since its return, the reader left
		// no gap.
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

// stretch is a part of a file that a reader has read from. Offsets and lengths are in bytes.
type stretch struct {
	start, end int64
	covered    int64 // bytes of it that were read
}

// add records a read of n bytes. If off is more than slack away from the end of the stretch, a new one starts with the
// read, and add returns false.
func (s *stretch) add(off, n, slack int64, l *limits) bool {
	if d := off - s.end; d < -slack || d > slack {
		*s = stretch{off, off + n, n}
		return false
	}
	// Bytes that were read before do not count twice. Near the end they count, because they fill gaps: the kernel's
	// reads overtake each other.
	added := max(min(off+n, s.start)-off, 0) + max(off+n-max(off, s.end), 0)
	if off >= s.end-l.narrowSlack {
		added = n
	}
	s.start = min(s.start, off)
	s.end = max(s.end, off+n)
	s.covered = min(s.covered+added, s.end-s.start)
	if s.end-s.start > l.history {
		s.start = s.end - (s.end-s.start)/2
		s.covered /= 2
	}
	return true
}

// moveEnd shifts the stretch so that it ends at off.
func (s *stretch) moveEnd(off int64) {
	s.start += off - s.end
	s.end = off
}

// dense reports whether the reader has read more than minimum bytes, and at least half of the stretch.
func (s *stretch) dense(minimum int64) bool {
	return s.covered > minimum && s.covered >= (s.end-s.start)/2
}
