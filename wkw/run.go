package wkw

import (
	"slices"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	// maxBatch is the most bytes that are read before they are decoded. A larger block is read alone.
	maxBatch = 1 << 20

	// promptBatch is the same for two blocks or more of a source that is not late. They are decoded while the
	// processor's second-level cache, of 512 KiB or more, has their stored bytes. Four neighbours of 32 KiB that do not
	// compress fit.
	promptBatch = 144 << 10

	// directBytes is the size of the smallest raw blocks that are read directly into their memory, with one system
	// call each. Smaller blocks are faster if many are read together and copied.
	directBytes = 16 << 10
)

// readBatches reads and decodes the blocks, one batch after the other.
func (s *filler) readBatches() {
	s.reserve(s.batchSize())
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

// batchSize returns the bytes of the largest batch. Only a single block can be larger.
func (s *filler) batchSize() int {
	total := int64(0)
	for i := 0; i < len(s.extents) && total < s.most; i++ {
		total += s.extents[i].size
	}
	return int(min(total, s.most))
}

// maxBatch returns the most bytes that are read before they are decoded. Blocks that do not compress are a little
// larger when they are stored: a source whose requests should be long gets one request for 1 MiB of them, not two. That
// may change during a Fill, so it is asked once.
func (s *filler) maxBatch() int64 {
	if s.file.Speed().Long > 0 {
		return maxKept
	}
	return maxBatch
}

// batchEnd returns the end of the batch that starts at block first. It has at least one block. A batch of promptBatch
// has whole pairs of blocks, because a block is decoded faster in a pair.
func (s *filler) batchEnd(first int) (end int) {
	total, late := s.extents[first].size, s.file.Speed().Late
	for end = first + 1; end < len(s.extents); end++ {
		total += s.extents[end].size
		if paired := (end-first)%2 == 0; total > s.most || !late && paired && total > promptBatch {
			break
		}
	}
	return end
}

// readBatch reads blocks into the batch, with one range for each run. If a range fails, its blocks are read again one
// by one, so that only blocks in a damaged part of the disk have an error.
func (s *filler) readBatch(first, end int) {
	s.batch = s.batch[:0]
	s.ranges, s.runs = s.ranges[:0], s.runs[:0]
	for next := first; next < end; {
		last := s.run(next, end)
		s.addRange(next, last)
		next = last
	}
	s.read(len(s.batch))
	failed := s.runs[:0]
	for i, r := range s.ranges {
		switch run := s.runs[i]; {
		case r.Err == nil:
		case run[1] == run[0]+1:
			s.fail(run[0], s.file.readError(s.numbers[run[0]], r.Off, r.Err))
		default:
			failed = append(failed, run)
		}
	}
	if s.runs = failed; len(failed) > 0 {
		s.readAlone()
	}
}

// addRange adds a run of blocks to the batch, and its range to those to be read.
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

// readAlone reads the blocks of the failed runs one by one.
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
			s.fail(i, s.file.readError(s.numbers[i], s.ranges[n].Off, err))
		}
	}
}

// run returns the end of the run that starts at block first: adjacent extents in the file, up to block limit.
func (s *filler) run(first, limit int) (end int) {
	for end = first + 1; end < limit; end++ {
		if s.extents[end].offset != s.extents[end-1].end() {
			break
		}
	}
	return end
}
