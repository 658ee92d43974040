package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// opened returns an open file with those abilities of the one below that callers ask for by type.
func (s *Scheduled) opened(f fs.File) fs.File {
	below := stream{f, s, new(atomic.Int32)}
	if !readableAt(f) {
		return &below
	}
	seeker, seeks := f.(io.Seeker)
	advisor, advises := f.(vfs.Advisor)
	switch {
	case seeks && advises:
		return &struct {
			readable
			io.Seeker
			advised
		}{readable{below}, seeker, advised{advisor, s}}
	case seeks:
		return &struct {
			readable
			io.Seeker
		}{readable{below}, seeker}
	case advises:
		return &struct {
			readable
			advised
		}{readable{below}, advised{advisor, s}}
	}
	return &readable{below}
}

func readableAt(f fs.File) bool {
	switch f.(type) {
	case io.ReaderAt, vfs.ContextReaderAt:
		return true
	}
	return false
}

// stream is an open file that is read from its start to its end, or an open directory.
type stream struct {
	fs.File
	s    *Scheduled
	busy *atomic.Int32 // calls that are under way
}

// Close closes the file. While a read is under way, the operating system would wait for its answer, which may
// never come. So the file is closed then as soon as there are answers, and nobody waits for that.
func (f *stream) Close() error {
	if f.busy.Load() == 0 {
		return f.File.Close()
	}
	go f.File.Close() // read-only: nothing can be lost
	return nil
}

// Stat describes the file. File servers often answer it from memory, so it does not say whether they answer late.
func (f *stream) Stat() (fs.FileInfo, error) {
	f.busy.Add(1)
	defer f.busy.Add(-1)
	return look(f.s, notJudged, f.File.Stat)
}

// Read reads the next bytes.
func (f *stream) Read(p []byte) (int, error) {
	f.busy.Add(1)
	defer f.busy.Add(-1)
	slot, _ := f.s.queue.enter(context.Background())
	n, err := f.File.Read(p)
	f.s.read(slot, n)
	return n, err
}

// ReadDir implements [fs.ReadDirFile]. It fails if the file below does not.
func (f *stream) ReadDir(n int) ([]fs.DirEntry, error) {
	f.busy.Add(1)
	defer f.busy.Add(-1)
	d, ok := f.File.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Err: errors.ErrUnsupported}
	}
	return look(f.s, notJudged, func() ([]fs.DirEntry, error) { return d.ReadDir(n) })
}

// readable is an open file that is read at any offset.
type readable struct{ stream }

var (
	_ io.ReaderAt         = (*readable)(nil)
	_ vfs.ContextReaderAt = (*readable)(nil)
	_ vfs.RangeReader     = (*readable)(nil)
	_ vfs.Later           = (*readable)(nil)
)

// Late implements [vfs.Later].
func (f *readable) Late() bool { return f.s.Late() }

// ReadAt follows [io.ReaderAt].
func (f *readable) ReadAt(p []byte, off int64) (int, error) {
	return f.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext implements [vfs.ContextReaderAt]. A read that waits for a slot can be given up; one that is in flight
// only if the file below can give it up.
func (f *readable) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	f.busy.Add(1)
	defer f.busy.Add(-1)
	if pages(off, int64(len(p))) > maxRequest && f.Late() {
		whole := []vfs.Range{{Off: off, P: p}}
		if f.readMany(ctx, whole); whole[0].Err == nil {
			return len(p), nil
		} // else one read tells how many bytes there are
	}
	slot, err := f.s.queue.enter(ctx)
	if err != nil {
		return 0, err
	}
	n, err := vfs.ReadAt(ctx, f.File, p, off)
	f.s.read(slot, n)
	return n, err
}

// read gives back the slot of a read, and counts it. It reports whether the answer was late. A read of no bytes does
// not say: the end of a file is often known, and a fault may take any time.
func (s *Scheduled) read(slot, n int) (late bool) {
	n = max(n, 0)
	return s.queue.leave(slot, &s.queue.reads, n, n > 0)
}

// advised passes on advice about a file that is read in turn. If its source answers late, reads in flight take the
// place of advice, which would have everything read twice where there is no page cache.
type advised struct {
	advisor vfs.Advisor
	s       *Scheduled
}

// WillNeed implements [vfs.Advisor].
func (a *advised) WillNeed(off, n int64) {
	if !a.s.Late() {
		a.advisor.WillNeed(off, n)
	}
}
