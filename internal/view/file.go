package view

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/header"
	"github.com/wkwfs/wkwfs/internal/mosaic"
	"github.com/wkwfs/wkwfs/internal/prefetch"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// openFile is an open file of voxels, with what its format puts around them. It
// implements io.ReaderAt, io.Seeker, vfs.ContextReaderAt, vfs.Pusher and vfs.Holed.
type openFile struct {
	*io.SectionReader // Read and Seek, by way of ReadAt
	info              info
	layout            header.Layout
	voxels            *prefetch.Reader // nil: there are none in it
	shared            *prefetch.Reader // of an array that the voxels are a part of, from offset on; nil: none
	offset            int64
	holes             *mosaic.Holes // nil: none are known
	leave             func()        // ends the use of shared
	close             func()
}

// newFile makes a file of the layout around voxels. It closes voxels and calls close when it is closed.
func newFile(i info, layout header.Layout, voxels *prefetch.Reader, close func()) *openFile {
	f := &openFile{info: i, layout: layout, voxels: voxels, close: close}
	f.SectionReader = io.NewSectionReader(background{f}, 0, i.size)
	return f
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// head and size are the lengths, in bytes, of the first two parts.
func (f *openFile) head() int64 { return int64(len(f.layout.Head)) }

func (f *openFile) size() int64 {
	if f.voxels == nil {
		return 0
	}
	return f.voxels.Array().Size()
}

// ReadAtContext reads across head, voxels and tail; all or nothing.
func (f *openFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	n := 0
	for n < len(p) {
		read, err := f.readPart(ctx, p[n:], off+int64(n))
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
func (f *openFile) readPart(ctx context.Context, p []byte, off int64) (int, error) {
	if off < f.head() {
		return copy(p, f.layout.Head[off:]), nil
	}
	off -= f.head()
	switch {
	case off < f.size() && f.shared != nil:
		return f.shared.ReadAt(ctx, p[:min(int64(len(p)), f.size()-off)], f.offset+off)
	case off < f.size():
		return f.voxels.ReadAt(ctx, p, off)
	}
	off -= f.size()
	if off >= f.layout.TailSize {
		return 0, io.EOF
	}
	return f.layout.Tail.ReadAt(p, off)
}

// Push implements vfs.Pusher. What a shared reader decodes is of other files too.
func (f *openFile) Push(to vfs.Sink) {
	if f.voxels != nil && f.shared == nil {
		f.voxels.Push(to)
	}
}

// SeekData implements vfs.Holed.
func (f *openFile) SeekData(off int64) (int64, error) {
	at := off - f.head()
	if f.holes == nil || at < 0 || at >= f.size() {
		return off, nil
	}
	data, err := f.holes.SeekData(at)
	if err == io.EOF && f.layout.TailSize > 0 {
		return f.head() + f.size(), nil
	}
	return f.head() + data, err
}

// SeekHole implements vfs.Holed.
func (f *openFile) SeekHole(off int64) (int64, error) {
	at := max(off-f.head(), 0)
	if f.holes == nil || at >= f.size() {
		return f.info.size, nil
	}
	hole, err := f.holes.SeekHole(at)
	if hole == f.size() {
		return f.info.size, err // after the tail
	}
	return f.head() + hole, err
}

// Close gives up what was begun ahead of the reader. It waits for pushes, not for loads.
func (f *openFile) Close() error {
	if f.leave != nil {
		f.leave()
	}
	if f.voxels != nil {
		f.voxels.Close()
	}
	f.close()
	return nil
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
