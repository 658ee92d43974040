package copier

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// file is a file that is being copied.
type file struct {
	item
	dst  *os.Root
	info fs.FileInfo // of the source
	in   fs.File
	out  *os.File // the part
	part string   // name of the part
	// the part is not beside the target, and may have been removed by another process that has completed it
	staged    bool
	rangeSize int64 // bytes; the last range may be shorter
	ranges    int64
	journal   *journal // nil: there is only one range

	pushed   pushed
	hasHoles atomic.Bool // some holes were not written

	// copier.mu guards these fields.
	next      int64          // the first range that is not claimed
	inFlight  int            // number of ranges that are claimed and not released
	done      int64          // the first range that is not written
	doneAhead map[int64]bool // ranges after done that are written
	saved     int64          // done in the last entry of the journal
	err       error          // the first one
}

const (
	partSuffix    = ".part"
	journalSuffix = ".json" // of the name of a part
)

// journalName returns the name of the journal.
func (f *file) journalName() string { return f.part + journalSuffix }

// record returns the entry of the journal for the source with no range done.
func (f *file) record() record {
	return record{Version: fmt.Sprintf("%x", vfs.VersionOf(f.info)), Size: f.info.Size(), Range: f.rangeSize}
}

// rangeOf returns the bytes of range i.
func (f *file) rangeOf(i int64) span.Span { return span.New(0, f.info.Size()).Piece(i, f.rangeSize) }

// copyRange copies range i without its holes. buf is at least as long as the range.
func (f *file) copyRange(ctx context.Context, buf []byte, i int64) error {
	all := f.rangeOf(i)
	for off, end := all.Start(), all.End(); off < end; {
		from, to, err := f.nextData(off, end)
		if err != nil {
			return err
		}
		if from > off {
			f.hasHoles.Store(true)
		}
		if from == end {
			return nil
		}
		if err := f.copyData(ctx, buf, from, to); err != nil {
			return err
		}
		off = to
	}
	return nil
}

// copyData copies the bytes [off, end) of one range, without those that the source has pushed.
func (f *file) copyData(ctx context.Context, buf []byte, off, end int64) error {
	for off < end {
		from, to := f.pushed.nextMissing(off, end)
		if err := f.read(ctx, buf[:to-from], from); err != nil {
			return err
		}
		if _, err := f.out.WriteAt(buf[:to-from], from); err != nil {
			return destination(err)
		}
		off = to
	}
	return nil
}

// nextData returns the first bytes of [off, end) that are not in a hole. If there are none, from and to are end.
func (f *file) nextData(off, end int64) (from, to int64, err error) {
	holed, ok := f.in.(vfs.HoleSeeker)
	if !ok {
		return off, end, nil
	}
	from, err = holed.SeekData(off)
	if err == io.EOF || err == nil && from >= end {
		return end, end, nil
	}
	if err != nil {
		return 0, 0, err
	}
	to, err = holed.SeekHole(from)
	return from, min(to, end), err
}

// read fills p from the source. An error names the first page that cannot be read.
func (f *file) read(ctx context.Context, p []byte, off int64) error {
	n, err := vfs.ReadAt(ctx, f.in, p, off)
	switch {
	case n == len(p):
		return nil
	case err == nil || err == io.EOF:
		return fmt.Errorf("byte %d: %w", off+int64(n), io.ErrUnexpectedEOF)
	case ctx.Err() != nil:
		return err
	}
	bad := p
	for len(bad) > pageSize {
		half := bad[:max(len(bad)/2/pageSize, 1)*pageSize]
		if _, e := vfs.ReadAt(ctx, f.in, half, off); e != nil {
			bad, err = half, e
		} else {
			off += int64(len(half))
			bad = bad[len(half):]
		}
	}
	return fmt.Errorf("bytes %d to %d: %w", off, off+int64(len(bad))-1, err)
}

// claim returns the next range that is not claimed.
func (f *file) claim() int64 {
	f.next++
	f.inFlight++
	return f.next - 1
}

func (f *file) markDone(i int64) {
	f.pushed.forget(i)
	f.doneAhead[i] = true
	for f.doneAhead[f.done] {
		delete(f.doneAhead, f.done)
		f.done++
	}
}

// startCheckpoint reports whether the caller has to write the journal, because checkpoint bytes are done since the last
// entry. Then f.saved is set already: no other goroutine writes the same entry.
func (f *file) startCheckpoint(checkpoint int64) bool {
	if f.journal == nil || (f.done-f.saved)*f.rangeSize < checkpoint {
		return false
	}
	f.saved = f.done
	return true
}
