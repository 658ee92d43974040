package wkw

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/wkwfs/wkwfs/vfs"
	"github.com/wkwfs/wkwfs/volume"
	"github.com/wkwfs/wkwfs/wkw/lz4block"
)

// File is an open cube file. Its methods may be called by many goroutines at once;
// Close comes after all of them.
type File struct {
	file   fs.File
	name   string
	info   fs.FileInfo // when it was opened
	header Header
	grid   volume.Grid
}

var (
	_ volume.CubeFile = (*File)(nil)
	_ volume.Sized    = (*File)(nil)
)

// OpenFile opens the named cube file of fsys, whose files must be readable at any
// offset: an [io.ReaderAt] or a [vfs.ContextReaderAt].
func OpenFile(fsys fs.FS, name string) (*File, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return NewFile(f, name)
}

// NewFile reads the header of an open cube file. It takes over f and closes it
// also when it fails. name is what errors call the file. The errors for a bad
// header are those of ParseHeader.
func NewFile(f fs.File, name string) (*File, error) {
	opened, err := newFile(f, name)
	if err != nil {
		f.Close() // nothing was written: err is what matters
		return nil, err
	}
	return opened, nil
}

func newFile(f fs.File, name string) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := make([]byte, min(HeaderSize, max(info.Size(), 0)))
	if err := readFull(context.Background(), f, b, 0); err != nil {
		return nil, fmt.Errorf("%s: header at byte 0: %w", name, err)
	}
	h, err := ParseHeader(b, name)
	if err != nil {
		return nil, err
	}
	if err := h.checkDataOffset(name); err != nil {
		return nil, err
	}
	return &File{f, name, info, h, h.Grid()}, nil
}

// checkDataOffset checks that the blocks come after the header and the jump table.
// The reference writer puts them right there; the format allows for a gap.
func (h Header) checkDataOffset(name string) error {
	least := h.size()
	if h.BlockType != Raw {
		least += 8 * h.blocks()
	}
	switch {
	case h.DataOffset < least:
		return &FormatError{name, "dataOffset", atDataOffset, fmt.Sprintf("at least %d", least), fmt.Sprint(h.DataOffset)}
	case h.DataOffset > math.MaxInt64:
		return &FormatError{name, "dataOffset", atDataOffset, "at most 2^63 − 1", fmt.Sprint(h.DataOffset)}
	}
	return nil
}

// Header returns what the file's header says.
func (f *File) Header() Header { return f.header }

// Grid returns the geometry of the cube, without origin and spacing.
func (f *File) Grid() volume.Grid { return f.grid }

// Info describes the file as it was when it was opened.
func (f *File) Info() fs.FileInfo { return f.info }

// Version names the content of the file as it was when it was opened.
func (f *File) Version() vfs.Version { return vfs.VersionOf(f.info) }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Block reads and decodes block b, 0 ≤ b < Grid().Blocks(). The slice is new and
// belongs to the caller; it is never nil. A damaged block is a *FormatError, a file
// that changed since it was opened an error that is vfs.ErrChanged.
func (f *File) Block(ctx context.Context, b volume.Vec) ([]byte, error) {
	block, err := f.block(ctx, b)
	// What was read is of the old file, the new one or both, and so is an error
	// found in it: look before anybody uses either.
	if changed := f.checkUnchanged(b); changed != nil {
		return nil, changed
	}
	return block, err
}

// StoredSize returns how many bytes block b takes in the file, without its entry in
// the jump table. It fails where Block fails before decoding.
func (f *File) StoredSize(b volume.Vec) (int64, error) {
	at, err := f.extent(context.Background(), b)
	if changed := f.checkUnchanged(b); changed != nil {
		return 0, changed
	}
	return at.size, err
}

func (f *File) block(ctx context.Context, b volume.Vec) ([]byte, error) {
	at, err := f.extent(ctx, b)
	if err != nil {
		return nil, err
	}
	if f.header.BlockType == Raw {
		block := make([]byte, at.size)
		return block, f.readBlock(ctx, b, block, at.begin)
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = slices.Grow((*buf)[:0], int(at.size))[:at.size]
	if err := f.readBlock(ctx, b, *buf, at.begin); err != nil {
		return nil, err
	}
	block := newBlock(f.grid.BlockBytes())
	if err := f.undecodable(b, at, lz4block.Decode(block, *buf)); err != nil {
		return nil, err
	}
	return block, nil
}

// buffers holds *[]byte for compressed blocks; what is decoded is never recycled.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// undecodable is the error for a block that could not be decoded, nil if it could.
func (f *File) undecodable(b volume.Vec, at extent, err error) error {
	if err == nil {
		return nil
	}
	return f.broken(fmt.Sprintf("block %v", b), at.begin, fmt.Sprintf("%d decoded bytes", f.grid.BlockBytes()), err.Error())
}

// readBlock fills p from byte offset on, for block b.
func (f *File) readBlock(ctx context.Context, b volume.Vec, p []byte, offset int64) error {
	if err := readFull(ctx, f.file, p, offset); err != nil {
		return fmt.Errorf("%s: block %v at byte %d: %w", f.name, b, offset, err)
	}
	return nil
}

// checkUnchanged fails if the open file is no longer what it was. A file that was
// replaced or removed stays what it was, but for its change time.
func (f *File) checkUnchanged(b volume.Vec) error {
	if err := vfs.Unchanged(f.file, f.info); err != nil {
		return fmt.Errorf("%s: block %v: %w", f.name, b, err)
	}
	return nil
}

func (f *File) broken(what string, offset int64, expected, found string) error {
	return &FormatError{f.name, what, offset, expected, found}
}

// readFull fills p from byte offset on unless ctx is done.
func readFull(ctx context.Context, f fs.File, p []byte, offset int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := vfs.ReadAt(ctx, f, p, offset)
	switch {
	case n == len(p):
		return nil // whatever the reader says of what follows
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}
