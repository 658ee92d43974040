package wkw

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// File is an open cube file. Its methods may be called by many goroutines at once. If Close is called
// during a Fill, the blocks of that Fill may have errors.
type File struct {
	file   fs.File
	name   string
	info   fs.FileInfo // when it was opened
	header Header
	grid   volume.Grid
	table  jumpTable
	slow   atomic.Bool // the last ranges were slower than the page cache

	closed bool // under tables.mu
}

var (
	_ volume.CubeFile  = (*File)(nil)
	_ volume.LZ4Source = (*File)(nil)
	_ volume.Announcer = (*File)(nil)
)

// OpenFile opens a cube file, which must be a regular file. The files of fsys must be an [io.ReaderAt], such as those
// of [os.DirFS], or have the method ReadAtContext(ctx context.Context, p []byte, off int64) (int, error). The errors
// for a bad header are those of ParseHeader.
func OpenFile(fsys fs.FS, name string) (*File, error) {
	f, _, err := vfs.OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	return NewFile(f, name)
}

// NewFile reads the header of an open cube file, as OpenFile does. The File owns f. If NewFile fails, it closes f.
// name is the name of the file in errors.
func NewFile(f fs.File, name string) (*File, error) {
	opened, err := newFile(f, name)
	if err != nil {
		f.Close() // read-only: its error does not matter
		return nil, err
	}
	return opened, nil
}

func newFile(f fs.File, name string) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	start := int64(HeaderSize)
	if vfs.SpeedOf(f).Late {
		start = startSize // a second request for the jump table would take longer
	}
	b := make([]byte, min(start, max(info.Size(), 0)))
	err = vfs.ReadFull(context.Background(), f, b, 0)
	if err != nil && len(b) > HeaderSize { // perhaps only bytes after the header cannot be read
		b = b[:HeaderSize]
		err = vfs.ReadFull(context.Background(), f, b, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: header at byte 0: %w", name, err)
	}
	h, err := ParseHeader(b[:min(len(b), HeaderSize)], name)
	if err != nil {
		return nil, err
	}
	if err := h.checkDataOffset(name); err != nil {
		return nil, err
	}
	opened := &File{file: f, name: name, info: info, header: h, grid: h.Grid(), table: newJumpTable(h)}
	opened.keepStart(b)
	return opened, nil
}

// checkDataOffset checks that the blocks start after the header and the jump table. The format allows a gap between
// them. The reference writer leaves none.
func (h Header) checkDataOffset(name string) error {
	least := h.size()
	if h.BlockType != Raw {
		least += 8 * h.blocks()
	}
	switch {
	case h.DataOffset < least:
		return invalid(name, "dataOffset", atDataOffset, fmt.Sprintf("at least %d", least), fmt.Sprint(h.DataOffset))
	case h.DataOffset > math.MaxInt64:
		return invalid(name, "dataOffset", atDataOffset, "at most 2^63 − 1", fmt.Sprint(h.DataOffset))
	}
	return nil
}

// Header returns the header of the file.
func (f *File) Header() Header { return f.header }

// Grid returns the geometry of the cube, without origin and spacing.
func (f *File) Grid() volume.Grid { return f.grid }

// Info returns the attributes that the file had when it was opened.
func (f *File) Info() fs.FileInfo { return f.info }

// Version names the content that the file had when it was opened.
func (f *File) Version() volume.Version { return vfs.VersionOf(f.info) }

// Speed implements vfs.SpeedReporter.
func (f *File) Speed() vfs.Speed { return vfs.SpeedOf(f.file) }

// Close closes the file.
func (f *File) Close() error {
	tables.close(f)
	return f.file.Close()
}

// readError returns the error for block n, in Morton order, if reading at an offset fails with err.
func (f *File) readError(n uint64, offset int64, err error) error {
	return fmt.Errorf("%s: %s at byte %d: %w", f.name, blockName(n), offset, err)
}

// decodeError returns the error for block n, in Morton order, if its decoder fails with err.
func (f *File) decodeError(n uint64, at extent, err error) error {
	return f.invalid(blockName(n), at.offset, fmt.Sprintf("%d decoded bytes", f.grid.BlockBytes()), err.Error())
}

// outsideError returns the error for a block that is not in the cube.
func (f *File) outsideError(b volume.Vec) error {
	return fmt.Errorf("%s: block %v: the cube has %v blocks", f.name, b, f.grid.Blocks())
}

// checkUnchanged returns volume.ErrChanged if the size or the modification time of the open file is not what it was.
// Removing or replacing the name of an open file changes neither.
func (f *File) checkUnchanged() error { return vfs.Unchanged(f.file, f.info) }

// changedError returns the error for a block if checkUnchanged fails with err.
func (f *File) changedError(b volume.Vec, err error) error {
	return fmt.Errorf("%s: block %v: %w", f.name, b, err)
}

func (f *File) invalid(part string, offset int64, expected, found string) error {
	return invalid(f.name, part, offset, expected, found)
}

// CheckFits returns a *volume.FormatError if the file cannot be in the directory mag, whose cubes have the header h:
// see [Header.Fits].
func (f *File) CheckFits(h Header, mag string) error {
	if f.header.Fits(h) {
		return nil
	}
	return invalid(f.name, "geometry", atPerDimLog2, h.geometry()+" as the mag "+mag, f.header.geometry())
}
