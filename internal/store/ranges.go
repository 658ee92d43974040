package store

import (
	"context"
	"sync"
	"time"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

const (
	// maxRequest is the most bytes of a request to a source that answers late, in whole pages. NFS asks its server for up to
	// 1 MiB at a time. FUSE asks for 128 KiB at a time, one after the other, unless it goes past the page cache: a request of
	// 256 KiB takes two round trips then, and one of 1 MiB five. So long ranges are cut, at multiples of maxRequest, so that
	// no two requests need the same page. Four blocks that do not compress are a little more than 128 KiB.
	maxRequest = 256 << 10
	page       = 4 << 10

	// maxGap is the most bytes between two ranges that are read along with them. At 1 GB/s they take 65 µs, and at
	// 200 MB/s they take as long as the promptest of late answers.
	maxGap = 64 << 10
)

// pages returns how many bytes the pages have in which n bytes from byte offset on lie.
func pages(off, n int64) int64 { return (off&(page-1) + n + page - 1) &^ (page - 1) }

// ReadRanges implements [vfs.RangeReader]. It reads one range after the other, until an answer is late. Then it asks
// for all others at once.
func (f *readable) ReadRanges(ctx context.Context, ranges []vfs.Range) {
	f.busy.Add(1)
	defer f.busy.Add(-1)
	for late := f.Late(); len(ranges) > 0; {
		if late {
			f.readMany(ctx, ranges)
			return
		}
		n := 0
		n, late = f.readInTurn(ctx, ranges[:min(len(ranges), inTurn)])
		ranges = ranges[n:]
	}
}

// inTurn is how many ranges are read in one slot, one after the other. To take a slot for each costs as much as to read
// some KiB of the page cache.
const inTurn = 32

// readInTurn reads ranges in one slot, until an answer is late. It returns how many were read, and whether the last one was late.
func (f *readable) readInTurn(ctx context.Context, ranges []vfs.Range) (n int, late bool) {
	q := f.s.queue
	slot, err := q.enter(ctx)
	if err != nil {
		fail(ranges, err)
		return len(ranges), false
	}
	var took [inTurn]time.Duration
	for begin := q.now(); n < len(ranges) && !late; n++ {
		r := &ranges[n]
		r.Err = vfs.ReadFull(ctx, f.File, r.P, r.Off)
		end := q.now()
		took[n], begin = end-begin, end
		late = q.reads.pace.isLateAnswer(took[n], len(r.P))
	}
	q.leaveReads(slot, ranges[:n], took[:n])
	return n, late
}

// readIn fills p from byte offset on in a slot, and gives the slot back.
func (f *readable) readIn(ctx context.Context, slot int, p []byte, off int64) (late bool, err error) {
	n := len(p)
	if err = vfs.ReadFull(ctx, f.File, p, off); err != nil {
		n = 0
	}
	return f.s.read(slot, n), err
}

// readMany reads all ranges at once.
func (f *readable) readMany(ctx context.Context, ranges []vfs.Range) {
	parts := cut(ranges)
	f.request(ctx, parts, joined)
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

// request sends requests for the parts in their order and waits for the answers. join returns how many of the next
// parts become one request.
//
// It has one place in the queue for slots, however many requests it sends. So other readers wait for one of them.
func (f *readable) request(ctx context.Context, parts []vfs.Range, join func([]vfs.Range) int) {
	var all sync.WaitGroup
	for len(parts) > 0 {
		next := parts[:join(parts)]
		parts = parts[len(next):]
		slot, err := f.s.queue.enterWith(ctx, length(next))
		if err != nil {
			fail(next, err)
			continue
		}
		if len(parts) == 0 {
			f.answer(ctx, slot, next)
			break
		}
		all.Go(func() {
			f.s.queue.start(slot)
			f.answer(ctx, slot, next)
		})
	}
	all.Wait()
}

// answer reads parts with one read in a slot. If that fails, it reads each of them alone, so that each has an error of
// its own.
func (f *readable) answer(ctx context.Context, slot int, parts []vfs.Range) {
	n := length(parts)
	if len(parts) == 1 {
		_, parts[0].Err = f.readIn(ctx, slot, parts[0].P, parts[0].Off)
		f.s.queue.leaveWith(n)
		return
	}
	memory := joinedBytes.Get().(*[maxRequest]byte)
	defer joinedBytes.Put(memory)
	_, err := f.readIn(ctx, slot, memory[:n], parts[0].Off)
	f.s.queue.leaveWith(n)
	if err != nil {
		f.request(ctx, parts, alone)
		return
	}
	for _, part := range parts {
		copy(part.P, memory[part.Off-parts[0].Off:])
	}
}

// joinedBytes has memory for the answers to joined requests.
var joinedBytes = sync.Pool{New: func() any { return new([maxRequest]byte) }}

func fail(parts []vfs.Range, err error) {
	for i := range parts {
		parts[i].Err = err
	}
}

// cut returns the ranges in parts of up to maxRequest bytes. An empty range has no part.
func cut(ranges []vfs.Range) []vfs.Range {
	parts := make([]vfs.Range, 0, len(ranges))
	for _, r := range ranges {
		for pages(r.Off, int64(len(r.P))) > maxRequest {
			n := maxRequest - int(r.Off&(maxRequest-1))
			parts = append(parts, vfs.Range{Off: r.Off, P: r.P[:n]})
			r.Off, r.P = r.Off+int64(n), r.P[n:]
		}
		if len(r.P) > 0 {
			parts = append(parts, vfs.Range{Off: r.Off, P: r.P})
		}
	}
	return parts
}

// joined returns how many of the first parts are worth one request: they follow each other in the file.
func joined(parts []vfs.Range) int {
	start, end := parts[0].Off, int64(len(parts[0].P))
	for i, part := range parts[1:] {
		gap := part.Off - start - end
		if start < 0 || part.Off < start || gap < 0 || gap > maxGap {
			return i + 1
		}
		if end += gap + int64(len(part.P)); pages(start, end) > maxRequest {
			return i + 1
		}
	}
	return len(parts)
}

func alone([]vfs.Range) int { return 1 }

// length returns how many bytes a request for the parts has, gaps included.
func length(parts []vfs.Range) int64 {
	last := parts[len(parts)-1]
	return last.Off - parts[0].Off + int64(len(last.P))
}
