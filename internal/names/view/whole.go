package view

import (
	"context"
	"io"
	"io/fs"
	"math/bits"
	"sync"
)

// wholeFile is an open file whose content is read as a whole by the first read, and kept until the file is closed.
// It is for chunks, which have a few MiB at most. It implements io.ReaderAt, io.Seeker and vfs.ContextReaderAt.
type wholeFile struct {
	*io.SectionReader // Read and Seek, through ReadAt
	info              info
	read              func(ctx context.Context, content []byte) error
	close             func()

	turn    chan struct{} // has an item while a goroutine uses content
	content []byte        // nil: it was not read yet
}

// newWholeFile returns a file of which read fills in the content. The memory has the length of the file, and may have
// bytes of other files. When the file is closed, it calls close.
func newWholeFile(i info, read func(ctx context.Context, content []byte) error, close func()) *wholeFile {
	f := &wholeFile{info: i, read: read, close: close, turn: make(chan struct{}, 1)}
	f.SectionReader = io.NewSectionReader(background{f}, 0, i.size)
	return f
}

func (f *wholeFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// ReadAtContext implements vfs.ContextReaderAt. A read that fails returns no bytes. The next read tries again.
func (f *wholeFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if f.content == nil {
		content := newContent(int(f.info.size))
		if err := f.read(ctx, content); err != nil {
			keepContent(content)
			return 0, err
		}
		f.content = content
	}
	if off >= f.info.size {
		return 0, io.EOF
	}
	n := copy(p, f.content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close releases what the file is made of.
func (f *wholeFile) Close() error {
	f.close()
	select {
	case f.turn <- struct{}{}:
		keepContent(f.content)
		f.content = nil
		<-f.turn
	default: // a goroutine that reads has the content
	}
	return nil
}

// keptMemory holds memory of files that were closed, by the logarithm of its capacity. Without it, a program that reads
// one chunk after another costs the server more for collecting garbage than for reading.
var keptMemory [maxKeptLog + 1]sync.Pool

// maxKeptLog is the logarithm of the most bytes of a file whose memory is kept.
const maxKeptLog = 20

// newContent returns memory for n bytes.
func newContent(n int) []byte {
	log := bits.Len(uint(max(n, 1) - 1))
	if log > maxKeptLog {
		return make([]byte, n)
	}
	if b, _ := keptMemory[log].Get().(*[]byte); b != nil {
		return (*b)[:n]
	}
	return make([]byte, n, 1<<log)
}

// keepContent gives memory of newContent back. Nothing may use it after that.
func keepContent(b []byte) {
	if log := bits.Len(uint(cap(b))) - 1; log >= 0 && log <= maxKeptLog && cap(b) == 1<<log {
		keptMemory[log].Put(&b)
	}
}
