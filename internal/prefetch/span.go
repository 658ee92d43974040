package prefetch

// span is a stretch of a file that a reader has read from. Offsets and lengths are in bytes.
type span struct {
	start, end int64
	covered    int64 // bytes of it that were read
}

// add records a read of n bytes. If off is more than slack away from the end of the span, a new span starts with the
// read, and add returns false.
func (s *span) add(off, n, slack int64) bool {
	if d := off - s.end; d < -slack || d > slack {
		*s = span{off, off + n, n}
		return false
	}
	// Bytes that were read before do not count twice. Near the end they count, because they fill gaps: the kernel's
	// reads overtake each other.
	added := max(min(off+n, s.start)-off, 0) + max(off+n-max(off, s.end), 0)
	if off >= s.end-narrowSlack {
		added = n
	}
	s.start = min(s.start, off)
	s.end = max(s.end, off+n)
	s.covered = min(s.covered+added, s.end-s.start)
	if s.end-s.start > history {
		s.start = s.end - (s.end-s.start)/2
		s.covered /= 2
	}
	return true
}

// moveEnd shifts the span so that it ends at off.
func (s *span) moveEnd(off int64) {
	s.start += off - s.end
	s.end = off
}

// dense reports whether the reader has read more than minimum bytes, and at least half of the span.
func (s *span) dense(minimum int64) bool {
	return s.covered > minimum && s.covered >= (s.end-s.start)/2
}
