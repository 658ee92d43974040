package wkw

import (
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	// A range is slow if it takes more than slowRead, and a nanosecond for each fastBytes. Usually, the
	// page cache takes 1 µs and 0.2 ns a byte. A fast disk takes 70 µs and more.
	slowRead  = 50 * time.Microsecond
	fastBytes = 2

	// maxAhead is how many bytes are announced at most before they are read.
	maxAhead = 8 << 20
)

// read reads the ranges, which have n bytes, and finds out whether they came too slowly for the page cache.
func (s *filler) read(n int) {
	if s.disk == nil {
		vfs.ReadRanges(s.ctx, s.file.file, s.ranges)
		return
	}
	start := time.Now()
	vfs.ReadRanges(s.ctx, s.file.file, s.ranges)
	slow := time.Since(start) > time.Duration(len(s.ranges))*slowRead+time.Duration(n/fastBytes)
	if s.file.slow.Load() != slow {
		s.file.slow.Store(slow)
	}
}

// announce announces to the disk the blocks from the first one on, but for those that were announced before, if the last ranges
// of the file were slow. Those before end are read next. So the disk can read many runs at once. As long as the page cache has everything, nothing is announced.
func (s *filler) announce(first, end int) {
	if s.disk == nil || !s.file.slow.Load() {
		return
	}
	if end == len(s.blocks) && s.run(first, end) == end {
		return // it is read at once, without any other
	}
	next, unread := max(first, s.announced), int64(0)
	for i := first; i < next; i++ {
		unread += s.extents[i].size
	}
	for next < len(s.blocks) && unread < maxAhead {
		end, last := next+1, s.run(next, len(s.blocks))
		for end < last && unread+s.extents[end].end()-s.extents[next].offset <= maxAhead {
			end++
		}
		if n := s.extents[end-1].end() - s.extents[next].offset; n > 0 {
			s.disk.WillNeed(s.extents[next].offset, n)
			unread += n
		}
		next = end
	}
	s.announced = next
}
