// Package store opens a directory on disk as a read-only [fs.FS] that cannot be
// left: the bytes below a source.
//
// Symbolic links are followed while they stay inside the directory. Only
// regular files and directories are ever opened; devices, FIFOs and sockets
// are refused before an open could block or have an effect. Files are an
// [io.ReaderAt] and are read with pread, never mapped: truncation of a mapped
// file would kill the process.
package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Dir is a directory as an fs.FS. It implements fs.StatFS and fs.ReadDirFS and is
// safe for concurrent use.
type Dir struct{ root *os.Root }

var (
	_ fs.StatFS    = (*Dir)(nil)
	_ fs.ReadDirFS = (*Dir)(nil)
)

// Open opens the directory. The path itself may be a symbolic link.
func Open(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// Close lets go of the directory; open files stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Open opens a regular file or a directory for reading.
func (d *Dir) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	// Looked at first, because opening a device can have an effect of its own;
	// opened without blocking and looked at again, because it may have been
	// exchanged for a FIFO in between.
	info, err := d.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := servable(name, info); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = servable(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Stat describes what the name leads to, links followed.
func (d *Dir) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return d.root.Stat(name)
}

// ReadDir lists a directory, sorted by name.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(d.root.FS(), name)
}

// servable refuses what is neither a regular file nor a directory.
func servable(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("neither a regular file nor a directory: %v", info.Mode().Type())}
}
