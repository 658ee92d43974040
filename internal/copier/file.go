package copier

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// file is a file that is being copied. What changes with every range is guarded by
// copying.mu.
type file struct {
	item
	dst    *os.Root
	info   fs.FileInfo // of the source
	in     fs.File
	out    *os.File // the part
	side   int64    // bytes of a range; the last one may be shorter
	ranges int64

	offered offered

	journal *journal       // nil: there is only one range
	next    int64          // first range that was not given out
	busy    int            // ranges given out and not put back
	done    int64          // so many from the start are written
	early   map[int64]bool // ranges beyond done that are written too
	saved   int64          // done, as the journal has it
	err     error          // the first one

	holes atomic.Bool // some were left
}

const (
	partSuffix    = ".part"
	journalSuffix = ".part.json"
)

// record is what the journal says of the source, with nothing done.
func (f *file) record() record {
	return record{Version: fmt.Sprintf("%x", vfs.VersionOf(f.info)), Size: f.info.Size(), Range: f.side}
}

func (f *file) rangeBegin(i int64) int64 { return i * f.side }
func (f *file) rangeEnd(i int64) int64   { return min((i+1)*f.side, f.info.Size()) }

// copyRange copies range i, but for its holes.
func (f *file) copyRange(ctx context.Context, buf []byte, i int64) error {
	end := f.rangeEnd(i)
	for off := f.rangeBegin(i); off < end; {
		from, to, err := f.nextData(off, end)
		if err != nil {
			return err
		}
		if from > off || to < end {
			f.holes.Store(true)
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

// copyData copies [off, end) of one range, but for what was offered and is written.
func (f *file) copyData(ctx context.Context, buf []byte, off, end int64) error {
	for off < end {
		from, to := f.offered.missing(off, end)
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

// nextData returns the first stretch of bytes in [off, end) that are not in a hole; an
// empty one at end if there is none.
func (f *file) nextData(off, end int64) (from, to int64, err error) {
	holed, ok := f.in.(vfs.Holed)
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

// read fills p. An error names the first bytes that cannot be had, to a page.
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
	for len(bad) > page {
		half := bad[:max(len(bad)/2/page, 1)*page]
		if _, e := vfs.ReadAt(ctx, f.in, half, off); e != nil {
			bad, err = half, e
		} else {
			off += int64(len(half))
			bad = bad[len(half):]
		}
	}
	return fmt.Errorf("bytes %d to %d: %w", off, off+int64(len(bad))-1, err)
}

// give returns the next range that nobody has taken.
func (f *file) give() (*file, int64) {
	f.next++
	f.busy++
	return f, f.next - 1
}

// complete notes that range i is written.
func (f *file) complete(i int64) {
	f.offered.forget(i)
	f.early[i] = true
	for f.early[f.done] {
		delete(f.early, f.done)
		f.done++
	}
}

// due reports whether the journal is so many bytes behind; then it counts as written.
func (f *file) due(checkpoint int64) bool {
	if f.journal == nil || (f.done-f.saved)*f.side < checkpoint {
		return false
	}
	f.saved = f.done
	return true
}
