package prefetch

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
