package prefetch

import "github.com/wkwfs/wkwfs/volume"

// slabsAhead is how many slabs after a slab that is started are announced to the disk at least. One takes a disk about as long as
// two cores need to decode another.
const slabsAhead = 2

// announce tells the source of a sequential reader which blocks it reads with portion i and after it. They are an even
// number of slabs: in Morton order, four blocks of a slab follow each other in the file, but 32 blocks of two slabs. So a disk gets few long
// requests, and none twice. A source that may answer late has many requests in flight instead. It is called with mu held.
func (r *Reader) announce(i int) {
	w := &r.window
	l := w.layout
	if r.state != sequential || r.undecided.Load() || l.portionsPerSlab() > 1 || l.slabs > 1 || !r.source.Speed().AtOnce {
		return
	}
	end := l.announcedEnd(i)
	from := i
	if w.announced <= end {
		from = max(from, w.announced) // else the reader went back
	}
	if from >= end {
		return
	}
	w.announced = end
	var blocks volume.Box
	for ; from < end; from++ {
		blocks = blocks.Union(l.validBlocks(from))
	}
	r.source.Announce(r.ctx, blocks)
}

// announcedEnd returns the portion after the last one that is announced when portion i is started. It is the end of a pair of slabs, or of the
// array. It is i if a pair is too large.
func (l layout) announcedEnd(i int) int {
	if l.portionBytes() > l.maxAnnounced/2 {
		return i
	}
	end := i + 1 + slabsAhead
	end += (l.blocks.Min[2] + end) % 2
	for int64(end-i)*l.portionBytes() > l.maxAnnounced {
		end -= 2
	}
	return min(end, l.count())
}
