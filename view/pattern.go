package view

// pattern tells readers that go through a file from one end to the other from those
// that pick what they need. It follows one reader; offsets and lengths are in bytes.
//
// Reads need not come in order: the kernel's readahead has several under way. What
// counts is that they leave little out. A program that maps the file and looks at one xz
// plane also moves forward steadily, but takes a row of each plane.
type pattern struct {
	begin, end int64 // the part of the file that the reader has come through
	seen       int64 // what it has read of that
}

const (
	slack  = 16 << 20 // how far from where it was expected a read of a stream may be
	near   = 1 << 20  // and one of a reader that has come back to where it was
	memory = 64 << 20 // how much of the past counts
)

// note tells of a read, and reports whether the reader has gone on where it was before, or no further than slack
// from there.
func (p *pattern) note(off, n, slack int64) bool {
	if d := off - p.end; d < -slack || d > slack {
		*p = pattern{off, off + n, n}
		return false
	}
	// What is read again does not count.
	p.seen += max(min(off+n, p.begin)-off, 0) + max(off+n-max(off, p.end), 0)
	p.begin = min(p.begin, off)
	p.end = max(p.end, off+n)
	if p.end-p.begin > memory {
		p.begin = p.end - (p.end-p.begin)/2
		p.seen /= 2
	}
	return true
}

// move lets the reader be at off without having left anything out.
func (p *pattern) move(off int64) {
	p.begin += off - p.end
	p.end = off
}

// flows reports whether the reader has come through more than least bytes without
// leaving much out.
func (p *pattern) flows(least int64) bool { return p.seen > least && p.seen >= (p.end-p.begin)/2 }

// track is the pattern of a reader that may leave its way and come back. Then the part of the file that it has come
// through reaches to where it was meanwhile, and little of that was read; but from where it has come back to it
// leaves nothing out.
type track struct {
	pattern
	back pattern // since it has last read somewhere else
}

// note tells of a read, and reports whether the reader has gone on where it was before. If it has come back, and is known again
// to go through more than least bytes, it has not.
func (t *track) note(off, n, least int64) bool {
	goesOn := t.pattern.note(off, n, slack)
	t.back.note(off, n, near)
	if t.pattern.flows(least) || !t.back.flows(least) {
		return goesOn
	}
	t.pattern = t.back
	return false
}

// move lets the reader be at off without having left anything out.
func (t *track) move(off int64) {
	t.pattern.move(off)
	t.back = pattern{begin: off, end: off}
}
