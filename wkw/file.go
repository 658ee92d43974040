package wkw

import (
	"container/list"
	"context"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// File is an open cube file. Its methods may be called by many goroutines at once.
// A Fill that is under way when Close is called may fail.
type File struct {
	file   fs.File
	name   string
	info   fs.FileInfo // when it was opened
	header Header
	grid   volume.Grid
	table  jumpTable
	slow   atomic.Bool // the last ranges came too slowly for the page cache

	place  *list.Element // among the files that keep chunks of their tables; under the lock of these, as what follows
	closed bool
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
	if err := vfs.ReadFull(context.Background(), f, b, 0); err != nil {
		return nil, fmt.Errorf("%s: header at byte 0: %w", name, err)
	}
	h, err := ParseHeader(b, name)
	if err != nil {
		return nil, err
	}
	if err := h.checkDataOffset(name); err != nil {
		return nil, err
	}
	return &File{file: f, name: name, info: info, header: h, grid: h.Grid(), table: newJumpTable(h)}, nil
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

// Late implements vfs.Later.
func (f *File) Late() bool { return vfs.IsLate(f.file) }

// Close closes the file.
func (f *File) Close() error {
	tables.close(f)
	return f.file.Close()
}

// unreadable is the error for block n in Morton order, which could not be read at an offset.
func (f *File) unreadable(n uint64, offset int64, err error) error {
	return fmt.Errorf("%s: %s at byte %d: %w", f.name, blockName(n), offset, err)
}

// undecodable is the error for block n in Morton order, which could not be decoded.
func (f *File) undecodable(n uint64, at extent, err error) error {
	return f.broken(blockName(n), at.offset, fmt.Sprintf("%d decoded bytes", f.grid.BlockBytes()), err.Error())
}

// outside is the error for a block that is not in the cube.
func (f *File) outside(b volume.Vec) error {
	return fmt.Errorf("%s: block %v: the cube has %v blocks", f.name, b, f.grid.Blocks())
}

// checkUnchanged returns an error that is vfs.ErrChanged if the open file is no longer what it was.
// A file that was replaced or removed stays what it was, but for its change time.
func (f *File) checkUnchanged() error { return vfs.Unchanged(f.file, f.info) }

// changed is the error for a block if checkUnchanged fails with err.
func (f *File) changed(b volume.Vec, err error) error {
	return fmt.Errorf("%s: block %v: %w", f.name, b, err)
}

func (f *File) broken(what string, offset int64, expected, found string) error {
	return &FormatError{f.name, what, offset, expected, found}
}
