package wkw

import (
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	// A range is slow if it takes longer than slowRead, plus a nanosecond for each fastBytes. The page cache
	// usually takes 1 µs plus 0.2 ns for each byte. A fast disk takes at least 70 µs.
	slowRead  = 50 * time.Microsecond
	fastBytes = 2

	// maxAhead bounds the bytes that are announced and not yet read.
	maxAhead = 8 << 20
)

// read reads the ranges, of n bytes in total. It measures whether they were slower than the page cache.
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

// announce advises the disk of up to maxAhead bytes of blocks from first on, so that it can read many runs at
// once. The caller reads the blocks before end next. Blocks are announced once. Nothing is announced if the last
// ranges came from the page cache.
func (s *filler) announce(first, end int) {
	if s.disk == nil || !s.file.slow.Load() {
		return
	}
	if end == len(s.blocks) && s.run(first, end) == end {
		return // the last run: the next read asks for all of it
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
