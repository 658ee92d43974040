package vfs

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/small/span"
)

// ContextReaderAt is an open file whose reads can be canceled.
type ContextReaderAt interface {
	// ReadAtContext is ReadAt of [io.ReaderAt], but returns early with ctx.Err() when ctx is done.
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
}

// ReadAt reads from byte offset off of f. It follows [io.ReaderAt] and uses ctx if f is a [ContextReaderAt].
// The error is fs.ErrInvalid if f can only be read in order.
func ReadAt(ctx context.Context, f fs.File, p []byte, off int64) (int, error) {
	switch f := f.(type) {
	case ContextReaderAt:
		return f.ReadAtContext(ctx, p, off)
	case io.ReaderAt:
		return f.ReadAt(p, off)
	}
	return 0, &fs.PathError{Op: "readat", Err: fs.ErrInvalid}
}

// ReadFull fills p from byte offset off. The error is io.ErrUnexpectedEOF if the file is too short, and
// ctx.Err() if ctx is done before the read.
func ReadFull(ctx context.Context, f fs.File, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := ReadAt(ctx, f, p, off)
	switch {
	case n == len(p):
		return nil // even with io.EOF
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// Range is a part of a file to read.
type Range struct {
	Off int64  // in bytes
	P   []byte // memory to fill
	Err error  // why P is not filled; io.ErrUnexpectedEOF if the file is too short
}

// RangeReader is an open file that can read many ranges at once.
type RangeReader interface {
	// ReadRanges fills the ranges and sets the error of each. It sends requests in the order of the ranges,
	// as many at a time as suits the source. When ctx is done, it sends no more requests, and the error of
	// the remaining ranges is ctx.Err(). It returns after all requests in flight have ended, however long
	// that takes. So nothing writes to the ranges after it has returned.
	ReadRanges(ctx context.Context, ranges []Range)
}

// ReadRanges fills ranges of f and sets the error of each. If f is no [RangeReader], it reads one range after
// the other.
func ReadRanges(ctx context.Context, f fs.File, ranges []Range) {
	if r, ok := f.(RangeReader); ok {
		r.ReadRanges(ctx, ranges)
		return
	}
	for i := range ranges {
		ranges[i].Err = ReadFull(ctx, f, ranges[i].P, ranges[i].Off)
	}
}

// ObjectFile is an open file of an object store, of which parts may be on a disk of this machine.
type ObjectFile interface {
	// ReadParts fills the ranges with one request. They do not overlap, and are in the order of their offsets. It needs
	// no memory for the gaps between them. The error is that of all ranges, whose own errors it does not set. It is
	// io.ErrUnexpectedEOF if the file is too short. After an error the content of the ranges is undefined.
	ReadParts(ctx context.Context, ranges []Range) error
	// ReadCached fills p from byte offset off and returns true if that needs no request to the source. If it returns
	// false, the content of p is undefined.
	ReadCached(p []byte, off int64) bool
}

// Advisor is an open file that takes advice about future reads.
type Advisor interface {
	// WillNeed announces a read of n bytes from byte offset off, so that the file can fetch them now. It does
	// not wait and does not fail.
	WillNeed(off, n int64)
}

// HoleSeeker is an open file that knows its holes: ranges of zeros that are not stored.
type HoleSeeker interface {
	// SeekData returns the first offset ≥ off that is not in a hole, or io.EOF if there is none. off is
	// inside the file.
	SeekData(off int64) (int64, error)
	// SeekHole returns the first offset ≥ off that is in a hole, or the size of the file. off is inside the
	// file.
	SeekHole(off int64) (int64, error)
}

// Pusher is an open file that decodes bytes before they are read.
type Pusher interface {
	// Push gives the file a sink for such bytes. It is called at most once, before the first read.
	Push(to Sink)
	// ReadOnce reports whether programs usually read the file once, all of it and in large pieces.
	ReadOnce() bool
}

// Sink takes bytes of an open file before they are read.
type Sink struct {
	All   bool  // it takes all decoded bytes; if false, only bytes that would have to be decoded again
	Page  int64 // it takes whole pages of this many bytes
	Piece int64 // the best size of a write in bytes, a multiple of Page
	Ahead int64 // reads may be in flight up to this many bytes after the last one: it is too late to push there

	// Write takes bytes at an offset of the file. Several goroutines call it until Close of the file has
	// returned. It does not keep p, and may wait for reads of the file. It returns whether the sink takes
	// more.
	Write func(p []byte, off int64) (more bool)
}

// Takes reports whether n bytes at byte offset off are what the sink takes of a file of size bytes: whole pages inside
// of the file.
func (s Sink) Takes(off, n, size int64) bool {
	pushed := span.Of(off, n)
	return off >= 0 && !pushed.Empty() && pushed.To(size).AlignIn(s.Page) == pushed
}
