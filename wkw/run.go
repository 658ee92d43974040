package wkw

import (
	"slices"

	"github.com/wkwfs/wkwfs/vfs"
)

const (
	// maxBatch is how many bytes are read before they are decoded. A larger block is read alone.
	maxBatch = 1 << 20

	// directBytes is the least size of raw blocks that are read right into their memory, with a system
	// call for each. Smaller blocks are read many at a time and copied, which is faster for them.
	directBytes = 16 << 10
)

// readBatches reads and decodes the blocks, as many at a time as a batch has room for.
func (s *filler) readBatches() {
	s.batch = sized(s.batch, s.batchSize())
	for next := 0; next < len(s.blocks); {
		end := s.readBatch(next)
		if s.file.header.BlockType == Raw {
			s.copyRaw(next, end)
		} else {
			s.decode(next, end)
		}
		next = end
	}
}

// batchSize returns how many bytes a batch will have at most, unless a single block is larger.
func (s *filler) batchSize() int {
	total := int64(0)
	for i := 0; i < len(s.extents) && total < maxBatch; i++ {
		total += s.extents[i].size
	}
	return int(min(total, maxBatch))
}

// readBatch reads blocks from the first one on, until the batch is full. It returns the number of the
// block after them.
func (s *filler) readBatch(first int) int {
	s.batch = s.batch[:0]
	next := first
	for next < len(s.blocks) {
		room := maxBatch - int64(len(s.batch))
		if next > first && s.extents[next].size > room {
			break
		}
		if s.stop(next) {
			return len(s.blocks)
		}
		end := s.run(next, room)
		s.announce(next, end)
		s.readRun(next, end)
		next = end
	}
	return next
}

// run returns the end of a run: blocks from the first one on whose extents follow each other in the
// file. They have at most limit bytes, or there is only one of them.
func (s *filler) run(first int, limit int64) (end int) {
	start := s.extents[first].offset
	for end = first + 1; end < len(s.extents); end++ {
		at := s.extents[end]
		if at.offset != s.extents[end-1].end() || at.end()-start > limit {
			break
		}
	}
	return end
}

// readRun appends the blocks of a run to the batch. If they cannot be read at once, it reads each of
// them alone, so that only those that are damaged have an error.
func (s *filler) readRun(first, end int) {
	offset, have := s.extents[first].offset, len(s.batch)
	n := int(s.extents[end-1].end() - offset)
	if n == 0 {
		return // blocks with errors
	}
	s.batch = slices.Grow(s.batch, n)[:have+n]
	err := s.read(s.batch[have:], offset)
	switch {
	case err == nil:
		for i := first; i < end; i++ {
			s.starts[i] = have + int(s.extents[i].offset-offset)
		}
	case end == first+1:
		s.batch = s.batch[:have]
		s.fail(first, s.file.unreadable(s.numbers[first], offset, err))
	default:
		s.batch = s.batch[:have]
		for i := first; i < end; i++ {
			s.readRun(i, i+1)
		}
	}
}

// read fills p from byte offset on.
func (s *filler) read(p []byte, offset int64) error {
	start := s.ahead.now()
	err := vfs.ReadFull(s.ctx, s.file.file, p, offset)
	s.ahead.measure(start, len(p))
	s.ahead.unread -= int64(len(p))
	return err
}
