package lattice

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/wkwfs/wkwfs/internal/vfs"
	"github.com/wkwfs/wkwfs/volume"
)

// File is an open file of encoded chunks: of one, or a shard. The zero File is none.
type File struct {
	Name string // for messages
	fs.File
	Info fs.FileInfo // when it was opened
}

// OpenFile opens a regular file.
func OpenFile(fsys fs.FS, name string) (File, error) {
	f, info, err := vfs.OpenRegular(fsys, name)
	return File{name, f, info}, err
}

// CheckUnchanged fails with volume.ErrChanged if the file changed since it was opened.
func (f File) CheckUnchanged() error {
	if err := vfs.Unchanged(f.File, f.Info); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// ReadFull fills b with the bytes of a part of the file, from an offset on.
func (f File) ReadFull(ctx context.Context, b []byte, at int64, part string) error {
	if err := vfs.ReadFull(ctx, f.File, b, at); err != nil {
		return f.Unreadable(part, at, err)
	}
	return nil
}

// Unreadable returns the error for that of a read at an offset.
func (f File) Unreadable(part string, at int64, err error) error {
	return fmt.Errorf("%s: %s at byte %d: %w", f.Name, part, at, err)
}

// Broken returns the error for a part of the file that breaks its format.
func (f File) Broken(part string, at int64, expected, found string) error {
	return &volume.FormatError{File: f.Name, Part: part, Offset: at, Expected: expected, Found: found}
}

// Undecodable returns the error for that of the decoder of a part of the file.
func (f File) Undecodable(part string, at int64, err error) *volume.FormatError {
	return &volume.FormatError{File: f.Name, Part: part, Offset: at, Err: err}
}
