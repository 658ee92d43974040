package view

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/names/header"
	"github.com/wkwfs/wkwfs/internal/read/prefetch"
	"github.com/wkwfs/wkwfs/internal/small/span"
	"github.com/wkwfs/wkwfs/internal/vfs"
)

// openFile is an open file. It has three parts: the head of its format, voxels, and the tail of its format. It
// implements io.ReaderAt, io.Seeker, vfs.ContextReaderAt, vfs.Pusher and vfs.HoleSeeker.
type openFile struct {
	*io.SectionReader // Read and Seek, through ReadAt
	info              info
	layout            header.Layout
	voxels            voxelReader    // nil: the file has no voxels
	holes             vfs.HoleSeeker // of voxels; nil: not known
	once              bool           // see ReadOnce
	close             func()

	// whole reads an array that contains the voxels from offset on. If it is not nil, it is used instead of voxels.
	whole      *prefetch.Reader
	offset     int64
	closeWhole func() // nil: none
}

// voxelReader reads the part of a file between its head and its tail.
type voxelReader interface {
	// ReadAt reads at most up to len(p) bytes, and at least one before the end.
	ReadAt(ctx context.Context, p []byte, off int64) (int, error)
	Size() int64
	// Push sets the sink for bytes that are decoded before they are read. It is called before the first read.
	Push(to vfs.Sink)
	// Close is the last call.
	Close()
}

// arrayReader reads one array.
type arrayReader struct{ *prefetch.Reader }

// Size implements voxelReader.
func (r arrayReader) Size() int64 { return r.Array().Size() }

// newFile returns a file. When it is closed, it closes voxels and calls close.
func newFile(i info, layout header.Layout, voxels voxelReader, close func()) *openFile {
	f := &openFile{info: i, layout: layout, voxels: voxels, close: close}
	f.SectionReader = io.NewSectionReader(background{f}, 0, i.size)
	return f
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// middle returns where the voxels are, after the head and before the tail. It is empty if the file has none.
func (f *openFile) middle() span.Span {
	head := int64(len(f.layout.Head))
	if f.voxels == nil {
		return span.Of(head, 0)
	}
	return span.Of(head, f.voxels.Size())
}

// ReadAtContext implements vfs.ContextReaderAt. A read that fails returns no bytes.
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

// readPart reads from one part, up to its end at most. It returns 0 bytes at the end of the file.
func (f *openFile) readPart(ctx context.Context, p []byte, off int64) (int, error) {
	middle := f.middle()
	switch {
	case off < middle.Start():
		return copy(p, f.layout.Head[off:]), nil
	case off < middle.End() && f.whole != nil:
		return f.whole.ReadAt(ctx, p[:span.Of(off, int64(len(p))).Clip(middle).Len()], f.offset+off-middle.Start())
	case off < middle.End():
		return f.voxels.ReadAt(ctx, p, off-middle.Start())
	case off-middle.End() < f.layout.TailSize:
		return f.layout.Tail.ReadAt(p, off-middle.End())
	}
	return 0, io.EOF
}

// Push implements vfs.Pusher. A reader of the whole array does not push: what it decodes also belongs to other files.
func (f *openFile) Push(to vfs.Sink) {
	if f.voxels != nil && f.whole == nil {
		f.voxels.Push(to)
	}
}

// ReadOnce implements vfs.Pusher.
func (f *openFile) ReadOnce() bool { return f.once }

// SeekData implements vfs.HoleSeeker.
func (f *openFile) SeekData(off int64) (int64, error) {
	middle := f.middle()
	if f.holes == nil || !middle.Contains(off) {
		return off, nil
	}
	data, err := f.holes.SeekData(off - middle.Start())
	if err == io.EOF && f.layout.TailSize > 0 {
		return middle.End(), nil
	}
	return middle.Start() + data, err
}

// SeekHole implements vfs.HoleSeeker.
func (f *openFile) SeekHole(off int64) (int64, error) {
	middle := f.middle()
	if f.holes == nil || off >= middle.End() {
		return f.info.size, nil
	}
	hole, err := f.holes.SeekHole(max(off-middle.Start(), 0))
	if hole == middle.Len() {
		return f.info.size, err // after the tail
	}
	return middle.Start() + hole, err
}

// Close cancels prefetching. It waits for pushes in flight, but not for loads.
func (f *openFile) Close() error {
	if f.closeWhole != nil {
		f.closeWhole()
	}
	if f.voxels != nil {
		f.voxels.Close()
	}
	f.close()
	return nil
}

// background is an io.ReaderAt that reads without a deadline.
type background struct{ vfs.ContextReaderAt }

func (b background) ReadAt(p []byte, off int64) (int, error) {
	return b.ReadAtContext(context.Background(), p, off)
}
