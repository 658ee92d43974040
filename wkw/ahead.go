package wkw

import (
	"context"
	"slices"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

const (
	// A range is slow if it takes longer than slowRead, plus a nanosecond for each fastBytes. The page cache
	// usually takes 1 µs plus 0.2 ns for each byte. A fast disk takes at least 70 µs.
	slowRead  = 50 * time.Microsecond
	fastBytes = 2

	// maxAhead bounds the bytes that a Fill announces and has not yet read.
	maxAhead = 8 << 20

	// announcedRows and announcedSlabs are the rows of blocks that are announced together, and their slabs. In Morton
	// order, the blocks of an aligned box of 4 × 4 × 2 follow each other in the file.
	announcedRows  = 4
	announcedSlabs = 2

	// maxAdvice is the longest run that is announced at once, unless a block is longer.
	maxAdvice = 4 << 20

	// Announced bytes are in the page cache if advice takes less than a nanosecond for each cachedBytes. Usually it
	// takes a third of that. A kernel that has to allocate pages for them takes six times as long.
	cachedBytes = 20
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

// Announce implements [volume.Announcer]. It does nothing if the file takes no advice, and stops when it finds that
// bytes are in the page cache: then the others probably are, too.
func (f *File) Announce(ctx context.Context, box volume.Box) {
	disk, ok := f.file.(vfs.Advisor)
	if !ok {
		return
	}
	all := box.Intersect(volume.Box{Max: f.grid.Blocks()})
	for part := all; part.Min[2] < all.Max[2]; part.Min[2] = part.Max[2] {
		part.Max[2] = nextMultiple(part.Min[2], announcedSlabs, all.Max[2])
		for part.Min[1] = all.Min[1]; part.Min[1] < all.Max[1]; part.Min[1] = part.Max[1] {
			part.Max[1] = nextMultiple(part.Min[1], announcedRows, all.Max[1])
			n, took := advise(ctx, disk, f.runs(ctx, part))
			if took < time.Duration(n/cachedBytes) || ctx.Err() != nil {
				return
			}
		}
	}
}

// nextMultiple returns the first multiple of step after n, or end if that is less.
func nextMultiple(n, step, end int) int { return min((n/step+1)*step, end) }

// runs returns the extents of the blocks of a box in the order of the file. Blocks that follow each other share one.
// Those with a damaged entry in the jump table are left out.
func (f *File) runs(ctx context.Context, box volume.Box) (runs []extent) {
	var numbers []uint64
	for b := range box.All() {
		numbers = append(numbers, MortonIndex(b))
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		at, err := f.extent(ctx, n, f.readChunk(ctx, n/chunkEntries))
		if err != nil {
			continue
		}
		if last := len(runs) - 1; last >= 0 && at.offset == runs[last].end() && runs[last].size+at.size <= maxAdvice {
			runs[last].size += at.size
		} else {
			runs = append(runs, at)
		}
	}
	return runs
}

// advise announces runs to the disk until ctx is done. It returns how many bytes they have, and how long the disk took.
func advise(ctx context.Context, disk vfs.Advisor, runs []extent) (n int64, took time.Duration) {
	start := time.Now()
	for _, run := range runs {
		if ctx.Err() != nil {
			break
		}
		disk.WillNeed(run.offset, run.size)
		n += run.size
	}
	return n, time.Since(start)
}
