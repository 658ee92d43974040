package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"

	boundary "github.com/wkwfs/wkwfs/internal/small/guard"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// opened wraps an open file of the source. The result has the optional abilities of that file.
func (s *Scheduled) opened(f fs.File) fs.File {
	base := stream{f, s, new(atomic.Int32)}
	if !readableAt(f) {
		return &base
	}
	seeker, seeks := f.(io.Seeker)
	advisor, advises := f.(vfs.Advisor)
	switch {
	case seeks && advises:
		return &struct {
			readable
			io.Seeker
			advised
		}{readable{base}, seeker, advised{advisor, s}}
	case seeks:
		return &struct {
			readable
			io.Seeker
		}{readable{base}, seeker}
	case advises:
		return &struct {
			readable
			advised
		}{readable{base}, advised{advisor, s}}
	}
	return &readable{base}
}

func readableAt(f fs.File) bool {
	switch f.(type) {
	case io.ReaderAt, vfs.ContextReaderAt:
		return true
	}
	return false
}

// stream is an open file that is read in order, or an open directory.
type stream struct {
	fs.File
	s        *Scheduled
	inFlight *atomic.Int32 // number of calls
}

// Close closes the file. If a read is in flight, the operating system waits for its answer, which may never
// arrive. So Close returns at once then, and the file is closed after the answer.
func (f *stream) Close() error {
	if f.inFlight.Load() == 0 {
		return f.File.Close()
	}
	go boundary.Func("store.close", func() {
		defer f.File.Close() // read-only: an error loses no data
		boundary.Pass("store.close")
	})()
	return nil
}

// Stat describes the file. File servers often answer it from memory, so it does not count for lateness.
func (f *stream) Stat() (fs.FileInfo, error) {
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	return lookup(f.s, untimed, f.File.Stat)
}

// Read reads the next bytes.
func (f *stream) Read(p []byte) (int, error) {
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	slot, _ := f.s.queue.acquire(context.Background(), &f.s.queue.reads)
	n, err := boundary.Call("store.read", func() (int, error) {
		boundary.Pass("store.read")
		return f.File.Read(p)
	})
	f.s.releaseRead(slot, n)
	return n, err
}

// ReadDir implements [fs.ReadDirFile]. The error is errors.ErrUnsupported if the file of the source is no
// ReadDirFile.
func (f *stream) ReadDir(n int) ([]fs.DirEntry, error) {
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	d, ok := f.File.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Err: errors.ErrUnsupported}
	}
	return lookup(f.s, untimed, func() ([]fs.DirEntry, error) { return d.ReadDir(n) })
}

// readable is an open file that is readable at any offset.
type readable struct{ stream }

var (
	_ io.ReaderAt         = (*readable)(nil)
	_ vfs.ContextReaderAt = (*readable)(nil)
	_ vfs.RangeReader     = (*readable)(nil)
	_ vfs.SpeedReporter   = (*readable)(nil)
)

// Speed implements [vfs.SpeedReporter].
func (f *readable) Speed() vfs.Speed { return f.s.Speed() }

// ReadAt implements [io.ReaderAt].
func (f *readable) ReadAt(p []byte, off int64) (int, error) {
	return f.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements [vfs.ContextReaderAt]. ctx cancels the wait for a slot. It cancels a read in
// flight only if the file of the source is a ContextReaderAt.
func (f *readable) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	if f.s.queue.pages(off, int64(len(p))) > f.s.queue.longest && f.s.late() {
		whole := []vfs.Range{{Off: off, P: p}}
		switch f.readAtOnce(ctx, whole); {
		case whole[0].Err == nil:
			return len(p), nil
		case f.s.queue.remote && !errors.Is(whole[0].Err, io.ErrUnexpectedEOF):
			return 0, whole[0].Err
		} // otherwise one read finds out how many bytes there are
	}
	slot, err := f.s.queue.acquire(ctx, &f.s.queue.reads)
	if err != nil {
		return 0, err
	}
	n, err := boundary.Call("store.read", func() (int, error) {
		boundary.Pass("store.read")
		return vfs.ReadAt(ctx, f.File, p, off)
	})
	f.s.releaseRead(slot, n)
	return n, err
}

// releaseRead gives back the slot of a read and counts its answer of n bytes. A read of no bytes does not
// count for lateness: the end of the file may be cached, and an error may take any time.
func (s *Scheduled) releaseRead(slot, n int) {
	n = max(n, 0)
	s.queue.release(slot, &s.queue.reads, n, n > 0)
}

// advised passes on advice if the source is prompt. If it is late, many reads are in flight instead. Without
// a page cache, the source would then read everything twice.
type advised struct {
	advisor vfs.Advisor
	s       *Scheduled
}

// WillNeed implements [vfs.Advisor].
func (a *advised) WillNeed(off, n int64) {
	if !a.s.late() {
		a.advisor.WillNeed(off, n)
	}
}
