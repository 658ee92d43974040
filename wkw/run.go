package wkw

import (
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
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
	for next := 0; next < len(s.blocks) && !s.stop(next); {
		end := s.batchEnd(next)
		s.announce(next, end)
		s.readBatch(next, end)
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

// batchEnd returns the end of a batch: the blocks from the first one on that have room in it, or that one alone.
func (s *filler) batchEnd(first int) (end int) {
	total := s.extents[first].size
	for end = first + 1; end < len(s.extents); end++ {
		if total += s.extents[end].size; total > maxBatch {
			break
		}
	}
	return end
}

// readBatch reads blocks into the batch. Each run is one range. If it cannot be read, its blocks are read each alone, so
// that only those that are damaged have an error.
func (s *filler) readBatch(first, end int) {
	s.batch = s.batch[:0]
	s.ranges, s.runs = s.ranges[:0], s.runs[:0]
	for next := first; next < end; {
		last := s.run(next, end)
		s.addRange(next, last)
		next = last
	}
	s.read(len(s.batch))
	again := s.runs[:0]
	for i, r := range s.ranges {
		switch run := s.runs[i]; {
		case r.Err == nil:
		case run[1] == run[0]+1:
			s.fail(run[0], s.file.unreadable(s.numbers[run[0]], r.Off, r.Err))
		default:
			again = append(again, run)
		}
	}
	if s.runs = again; len(again) > 0 {
		s.readAlone()
	}
}

// addRange adds blocks to the batch that follow each other in the file, and their range to those that are read.
func (s *filler) addRange(first, end int) {
	offset, have := s.extents[first].offset, len(s.batch)
	n := int(s.extents[end-1].end() - offset)
	if n == 0 {
		return // a block with an error
	}
	s.batch = slices.Grow(s.batch, n)[:have+n]
	s.ranges = append(s.ranges, vfs.Range{Off: offset, P: s.batch[have:]})
	s.runs = append(s.runs, [2]int{first, end})
	for i := first; i < end; i++ {
		s.starts[i] = have + int(s.extents[i].offset-offset)
	}
}

// readAlone reads the blocks of the runs that could not be read as a whole.
func (s *filler) readAlone() {
	var numbers []int
	s.ranges = s.ranges[:0]
	for _, run := range s.runs {
		for i := run[0]; i < run[1]; i++ {
			numbers = append(numbers, i)
			s.ranges = append(s.ranges, vfs.Range{Off: s.extents[i].offset, P: s.stored(i)})
		}
	}
	vfs.ReadRanges(s.ctx, s.file.file, s.ranges)
	for n, i := range numbers {
		if err := s.ranges[n].Err; err != nil {
			s.fail(i, s.file.unreadable(s.numbers[i], s.ranges[n].Off, err))
		}
	}
}

// run returns the end of a run: blocks from the first one on, up to most, whose extents follow each other in the file.
func (s *filler) run(first, most int) (end int) {
	for end = first + 1; end < most; end++ {
		if s.extents[end].offset != s.extents[end-1].end() {
			break
		}
	}
	return end
}
