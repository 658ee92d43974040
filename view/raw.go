package view

import (
	"context"
	"io"
	"io/fs"

	"github.com/wkwfs/wkwfs/vfs"
)

// raw is an open flat file. It implements io.ReaderAt, io.Seeker and
// vfs.ContextReaderAt.
type raw struct {
	*io.SectionReader // Read and Seek, by way of ReadAt
	info              info
	flat              *Flat
	ahead             *ahead
	below             io.Closer
}

// newRaw makes a file of flat; it closes below when it is closed.
func newRaw(i info, flat *Flat, below io.Closer) *raw {
	r := &raw{info: i, flat: flat, ahead: newAhead(flat), below: below}
	r.SectionReader = io.NewSectionReader(background{r}, 0, flat.Size())
	return r
}

func (r *raw) Stat() (fs.FileInfo, error) { return r.info, nil }

// ReadAtContext reads from the flat array and lets blocks be loaded ahead of a
// reader that goes through it from one end to the other.
func (r *raw) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	r.ahead.note(off, int64(len(p)))
	return r.flat.ReadAtContext(ctx, p, off)
}

// Close waits for what was begun ahead of the reader.
func (r *raw) Close() error {
	r.ahead.close()
	return r.below.Close()
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
