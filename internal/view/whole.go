package view

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// wholeFile is an open file whose content is read as a whole by the first read, and kept until the file is closed.
// It is for chunks, which have a few MiB at most. It implements io.ReaderAt, io.Seeker and vfs.ContextReaderAt.
type wholeFile struct {
	*io.SectionReader // Read and Seek, through ReadAt
	info              info
	read              func(context.Context) ([]byte, error)
	close             func()

	turn    chan struct{} // has an item while a goroutine uses content
	content []byte        // nil: it was not read yet
}

// newWholeFile returns a file of which read returns the content. When it is closed, it calls close.
func newWholeFile(i info, read func(context.Context) ([]byte, error), close func()) *wholeFile {
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
		content, err := f.read(ctx)
		if err == nil && int64(len(content)) != f.info.size {
			err = fmt.Errorf("%d bytes, and %d when the file was opened: %w", len(content), f.info.size, vfs.ErrChanged)
		}
		if err != nil {
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
	return nil
}
