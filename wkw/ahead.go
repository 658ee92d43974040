package wkw

import (
	"time"

	"github.com/wkwfs/wkwfs/vfs"
)

const (
	// A read is slow if it takes more than slowRead, and a nanosecond for each fastBytes. Usually, the
	// page cache takes 1 µs and 0.2 ns a byte. A fast disk takes 70 µs and more.
	slowRead  = 50 * time.Microsecond
	fastBytes = 2

	// maxAhead is how many bytes are announced at most before they are read.
	maxAhead = 8 << 20
)

// ahead announces to the disk what Fill reads next, once a read was too slow for the page cache. So the
// disk can read many runs at once. As long as the page cache has everything, reads are timed and nothing
// is announced.
type ahead struct {
	disk   vfs.Advisor // nil if the file takes no advice
	slow   bool        // a read was slow
	next   int         // the first block that was not announced
	unread int64       // bytes that were announced and not read
}

// now returns the time, which is of no use without a disk.
func (a *ahead) now() time.Time {
	if a.disk == nil {
		return time.Time{}
	}
	return time.Now()
}

// measure finds out whether a read of n bytes was slow.
func (a *ahead) measure(start time.Time, n int) {
	if a.disk != nil && time.Since(start) > slowRead+time.Duration(n/fastBytes) {
		a.slow = true
	}
}

// announce announces blocks from the first one on, if a read was slow. The blocks before end are read
// next: without any others they are not worth it.
func (s *filler) announce(first, end int) {
	a := &s.ahead
	if !a.slow || end == len(s.blocks) {
		return
	}
	if a.next < first {
		a.next, a.unread = first, 0
	}
	for a.next < len(s.blocks) && a.unread < maxAhead {
		end := s.run(a.next, maxAhead-a.unread)
		offset := s.extents[a.next].offset
		if n := s.extents[end-1].end() - offset; n > 0 {
			a.disk.WillNeed(offset, n)
			a.unread += n
		}
		a.next = end
	}
}
