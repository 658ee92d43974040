package store

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	boundary "github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// limits bound the requests to a late source. Tests make them small, so that small files reach them.
type limits struct {
	// longest is the maximum size of a request in bytes of whole pages, a power of two. Long ranges are cut at its
	// multiples, so that no two requests need the same page.
	longest int64
	page    int64 // a power of two
	// gap is the maximum number of bytes between two ranges that are read in one request.
	gap int64
	// most is the maximum number of bytes of reads in flight.
	most int64
}

const (
	// maxRequest is the longest request to a file server. NFS requests up to 1 MiB at a time. FUSE requests 128 KiB at
	// a time, one after the other, unless it bypasses the page cache: a request of 256 KiB then takes two round trips,
	// and one of 1 MiB five. Four blocks that do not compress have a little more than 128 KiB.
	maxRequest = 256 << 10
	pageSize   = 4 << 10

	// maxRemoteRequest is the same for an object store. A connection to one gives 90 MB/s: 8 MiB take about as long as
	// the first byte does.
	maxRemoteRequest = 8 << 20

	// maxGap takes 65 µs at 1 GB/s. At 200 MB/s it takes as long as the fastest late answer.
	maxGap = 64 << 10

	// maxInFlight is the most bytes in flight from a file server. Only a source of more than 1.6 GB/s with answers
	// after 20 ms could use more.
	maxInFlight = 32 << 20

	// maxRemoteInFlight is the same for an object store. It has answers after 50 ms and more: 32 MiB would be 0.4 GB/s
	// of a store that has 1 GB/s for 64 requests at a time.
	maxRemoteInFlight = 72 << 20
)

func usualLimits(remote bool) limits {
	l := limits{longest: maxRequest, page: pageSize, gap: maxGap, most: maxInFlight}
	if remote {
		l.longest, l.most = maxRemoteRequest, maxRemoteInFlight
	}
	return l
}

// pages returns the size of the pages that contain n bytes at offset off, in bytes.
func (l limits) pages(off, n int64) int64 { return (off&(l.page-1) + n + l.page - 1) &^ (l.page - 1) }

// ReadRanges implements [vfs.RangeReader]. It reads what needs no request first, and the rest from the source.
func (f *readable) ReadRanges(ctx context.Context, ranges []vfs.Range) {
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	rest, index := f.readCached(ctx, ranges)
	f.readSource(ctx, rest)
	for i, at := range index {
		ranges[at].Err = rest[i].Err
	}
}

// readSource reads one range after the other until an answer is late, then the rest at once.
func (f *readable) readSource(ctx context.Context, ranges []vfs.Range) {
	for late := f.s.late(); len(ranges) > 0; {
		if late {
			f.readAtOnce(ctx, ranges)
			return
		}
		n := 0
		n, late = f.readInTurn(ctx, ranges[:min(len(ranges), inTurn)])
		ranges = ranges[n:]
	}
}

// inTurn is the maximum number of consecutive requests in one slot. A slot for each request would take as
// long as reading some KiB of the page cache.
const inTurn = 32

// readInTurn reads ranges in one slot, until an answer is late. It returns how many it read, and whether the
// last answer was late.
func (f *readable) readInTurn(ctx context.Context, ranges []vfs.Range) (n int, late bool) {
	q := f.s.queue
	slot, err := q.acquire(ctx, &q.reads)
	if err != nil {
		fail(ranges, err)
		return len(ranges), false
	}
	var took [inTurn]time.Duration
	for start := q.now(); n < len(ranges) && !late; n++ {
		r := &ranges[n]
		r.Err = f.fill(ctx, r.P, r.Off)
		end := q.now()
		took[n], start = end-start, end
		late = q.reads.lateness.isLateAnswer(took[n], len(r.P))
	}
	q.releaseReads(slot, ranges[:n], took[:n])
	return n, late
}

// readAtOnce reads all ranges, as many at a time as there are slots.
func (f *readable) readAtOnce(ctx context.Context, ranges []vfs.Range) {
	parts := f.s.queue.cut(ranges)
	f.readParts(ctx, parts, f.s.queue.joined)
	for i := range ranges {
		r := &ranges[i]
		r.Err = nil
		for n := 0; n < len(r.P); {
			if r.Err == nil {
				r.Err = parts[0].Err
			}
			n += len(parts[0].P)
			parts = parts[1:]
		}
	}
}

// readParts sends requests for the parts in their order and waits for the answers. join returns how many of
// the next parts go into one request.
//
// It waits for one slot at a time, whatever the number of requests. So another reader waits for one of them
// only.
func (f *readable) readParts(ctx context.Context, parts []vfs.Range, join func([]vfs.Range) int) {
	var all sync.WaitGroup
	defer all.Wait() // also after a panic: the requests in flight write to memory of the caller
	for len(parts) > 0 {
		next := parts[:join(parts)]
		parts = parts[len(next):]
		slot, err := f.s.queue.acquireBytes(ctx, span(next))
		if err != nil {
			fail(next, err)
			continue
		}
		read := func() {
			f.s.queue.restart(slot, &f.s.queue.reads)
			f.readJoined(ctx, slot, next)
		}
		failed := func(err error) { fail(next, err) }
		if len(parts) == 0 {
			boundary.FuncElse("store.ranges", read, failed)()
			return
		}
		all.Go(boundary.FuncElse("store.ranges", read, failed))
	}
}

// readJoined reads parts with one request in a slot. If that fails, it reads each part with a request of its
// own, so that each part has its own error.
func (f *readable) readJoined(ctx context.Context, slot int, parts []vfs.Range) {
	err := f.request(ctx, slot, parts)
	switch {
	case len(parts) == 1:
		parts[0].Err = err
	case err != nil && f.s.queue.remote && !errors.Is(err, io.ErrUnexpectedEOF):
		fail(parts, err) // it has been tried often enough
	case err != nil:
		f.readParts(ctx, parts, alone)
	}
}

// request fills parts with one request, and gives back the slot and the bytes in flight.
func (f *readable) request(ctx context.Context, slot int, parts []vfs.Range) error {
	n := span(parts)
	defer f.s.queue.releaseBytes(n)
	answered := 0
	defer func() { f.s.releaseRead(slot, answered) }()
	boundary.Pass("store.ranges")
	if err := f.fillParts(ctx, parts, int(n)); err != nil {
		return err
	}
	answered = int(n)
	return nil
}

// fillParts fills parts that have n bytes together with the gaps.
func (f *readable) fillParts(ctx context.Context, parts []vfs.Range, n int) error {
	if len(parts) == 1 {
		return f.fill(ctx, parts[0].P, parts[0].Off)
	}
	if p, ok := f.File.(vfs.ObjectFile); ok {
		if err := ctx.Err(); err != nil {
			return err
		}
		return boundary.Do("store.read", func() error {
			boundary.Pass("store.read")
			return p.ReadParts(ctx, parts)
		})
	}
	memory, free := joinedMemory(n) // for a file that reads into memory without gaps
	defer free()
	if err := f.fill(ctx, memory, parts[0].Off); err != nil {
		return err
	}
	for _, part := range parts {
		copy(part.P, memory[part.Off-parts[0].Off:])
	}
	return nil
}

// fill fills p from byte offset off. A panic of the file is an error: the slot of the request is given back as after
// any other.
func (f *readable) fill(ctx context.Context, p []byte, off int64) error {
	return boundary.Do("store.read", func() error {
		boundary.Pass("store.read")
		return vfs.ReadFull(ctx, f.File, p, off)
	})
}

// joinedBytes holds memory for the answers to joined requests.
var joinedBytes = sync.Pool{New: func() any { return new([maxRequest]byte) }}

// joinedMemory returns n bytes, and a function that gives them back.
func joinedMemory(n int) (memory []byte, free func()) {
	if n > maxRequest {
		return make([]byte, n), func() {}
	}
	pooled := joinedBytes.Get().(*[maxRequest]byte)
	return pooled[:n], func() { joinedBytes.Put(pooled) }
}

func fail(parts []vfs.Range, err error) {
	for i := range parts {
		parts[i].Err = err
	}
}

// cut cuts the ranges into parts of up to longest bytes of whole pages. An empty range has no part.
func (l limits) cut(ranges []vfs.Range) []vfs.Range {
	parts := make([]vfs.Range, 0, len(ranges))
	for _, r := range ranges {
		for l.pages(r.Off, int64(len(r.P))) > l.longest {
			n := int(l.longest - r.Off&(l.longest-1))
			parts = append(parts, vfs.Range{Off: r.Off, P: r.P[:n]})
			r.Off, r.P = r.Off+int64(n), r.P[n:]
		}
		if len(r.P) > 0 {
			parts = append(parts, vfs.Range{Off: r.Off, P: r.P})
		}
	}
	return parts
}

// joined returns how many of the first parts go into one request, because they follow each other in the file
// with small gaps.
func (l limits) joined(parts []vfs.Range) int {
	start, end := parts[0].Off, int64(len(parts[0].P))
	for i, part := range parts[1:] {
		gap := part.Off - start - end
		if start < 0 || part.Off < start || gap < 0 || gap > l.gap {
			return i + 1
		}
		if end += gap + int64(len(part.P)); l.pages(start, end) > l.longest {
			return i + 1
		}
	}
	return len(parts)
}

// alone puts each part into a request of its own.
func alone([]vfs.Range) int { return 1 }

// span returns the number of bytes from the start of the first part to the end of the last one.
func span(parts []vfs.Range) int64 {
	last := parts[len(parts)-1]
	return last.Off - parts[0].Off + int64(len(last.P))
}
