package view

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/header"
	"github.com/wkwfs/wkwfs/vfs"
)

// array is an open file of voxels, with what its format puts around them. It
// implements io.ReaderAt, io.Seeker, vfs.ContextReaderAt, vfs.Offerer and vfs.Holed.
type array struct {
	*io.SectionReader // Read and Seek, by way of ReadAt
	info              info
	layout            header.Layout
	flat              *Flat   // nil: there are no voxels in it
	holes             *holes  // nil: none are known
	stream            *stream // nil: nothing is read ahead
	begin             int64   // bytes in front of the array, of what the stream is of
	leave             func()  // ends the use of the stream
	below             io.Closer
}

// newArray makes a file of the layout around flat, which a stream may serve that is of just this file; it closes
// both, and below, when it is closed.
func newArray(i info, layout header.Layout, flat *Flat, own *stream, below io.Closer) *array {
	a := &array{info: i, layout: layout, flat: flat, stream: own, leave: own.close, below: below}
	a.SectionReader = io.NewSectionReader(background{a}, 0, i.size)
	return a
}

func (a *array) Stat() (fs.FileInfo, error) { return a.info, nil }

// head and voxels are the lengths, in bytes, of the first two parts.
func (a *array) head() int64 { return int64(len(a.layout.Head)) }

func (a *array) voxels() int64 {
	if a.flat == nil {
		return 0
	}
	return a.flat.Size()
}

// ReadAtContext reads across head, voxels and tail; all or nothing.
func (a *array) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	n := 0
	for n < len(p) {
		read, err := a.readPart(ctx, p[n:], off+int64(n))
		if err != nil && err != io.EOF {
			return 0, err
		}
		if read == 0 {
			return n, io.EOF
		}
		n += read
	}
	return n, nil
}

// readPart reads from the part that off lies in, to its end at most. Zero bytes are
// the end of the file.
func (a *array) readPart(ctx context.Context, p []byte, off int64) (int, error) {
	if off < a.head() {
		return copy(p, a.layout.Head[off:]), nil
	}
	off -= a.head()
	if off < a.voxels() {
		if n := a.stream.read(ctx, p[:min(int64(len(p)), a.voxels()-off)], a.begin+off); n > 0 {
			return n, nil
		}
		return a.flat.ReadAtContext(ctx, p, off)
	}
	off -= a.voxels()
	if off >= a.layout.TailSize {
		return 0, io.EOF
	}
	return a.layout.Tail.ReadAt(p, off)
}

// Offer implements vfs.Offerer.
func (a *array) Offer(all bool, take func(p []byte, off int64) (more bool)) {
	if a.stream != nil && !a.stream.known { // pages of other files are in no page cache of this one
		a.stream.pusher.all, a.stream.pusher.take = all, take
	}
}

// SeekData implements vfs.Holed.
func (a *array) SeekData(off int64) (int64, error) {
	at := off - a.head()
	if a.holes == nil || at < 0 || at >= a.voxels() {
		return off, nil
	}
	data, err := a.holes.seekData(at)
	if err == io.EOF && a.layout.TailSize > 0 {
		return a.head() + a.voxels(), nil
	}
	return a.head() + data, err
}

// SeekHole implements vfs.Holed.
func (a *array) SeekHole(off int64) (int64, error) {
	at := max(off-a.head(), 0)
	if a.holes == nil || at >= a.voxels() {
		return a.info.size, nil
	}
	hole, err := a.holes.seekHole(at)
	if hole == a.voxels() {
		return a.info.size, err // behind the tail
	}
	return a.head() + hole, err
}

// Close waits for what was begun ahead of the reader.
func (a *array) Close() error {
	a.leave()
	return a.below.Close()
}

// background is ReadAtContext without a context.
type background struct{ vfs.ContextReaderAt }

func (b background) ReadAt(p []byte, off int64) (int, error) {
	return b.ReadAtContext(context.Background(), p, off)
}

// passed is an open file of the source that is shown as it is.
type passed struct {
	fs.File
	info info
}

func (p *passed) Stat() (fs.FileInfo, error) { return p.info, nil }

// ReadAt fails if the file has changed since it was opened.
func (p *passed) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.File.(io.ReaderAt).ReadAt(b, off)
	if changed := vfs.Unchanged(p.File, p.info.base); changed != nil {
		return 0, changed
	}
	return n, err
}
