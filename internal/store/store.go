// Package store opens a directory on disk as a read-only [fs.FS]: the bytes below a
// source. It cannot be left, unless it was opened for that.
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
	"path/filepath"
	"syscall"
)

// Dir is a directory as an fs.FS. It implements fs.StatFS, fs.ReadDirFS and
// fs.ReadLinkFS and vfs.DescribeFS, and is safe for concurrent use.
type Dir struct{ root root }

// root is a directory in which paths are found: beneath or anywhere.
type root interface {
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	Close() error
}

var (
	_ fs.StatFS     = (*Dir)(nil)
	_ fs.ReadDirFS  = (*Dir)(nil)
	_ fs.ReadLinkFS = (*Dir)(nil)
)

// Open opens the directory. The path itself may be a symbolic link.
func Open(path string) (*Dir, error) {
	// OpenRoot finds out what it opened afterwards, and a FIFO would block it.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	confined, err := openBeneath(path)
	if err != nil {
		return nil, err
	}
	return &Dir{confined}, nil
}

// OpenFollowing opens the directory and lets symbolic links lead out of it. It holds
// no file open: the directory is found anew by its path each time.
func OpenFollowing(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return &Dir{anywhere(path)}, nil
}

// anywhere is a directory by its path, with links that lead where they lead.
type anywhere string

func (a anywhere) Stat(name string) (fs.FileInfo, error)  { return os.Stat(a.path(name)) }
func (a anywhere) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(a.path(name)) }
func (a anywhere) Readlink(name string) (string, error)   { return os.Readlink(a.path(name)) }
func (a anywhere) Close() error                           { return nil }

func (a anywhere) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(a.path(name), flag, perm)
}

func (a anywhere) path(name string) string { return filepath.Join(string(a), filepath.FromSlash(name)) }

// Close lets go of the directory; open files stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Open opens a regular file or a directory for reading.
func (d *Dir) Open(name string) (fs.File, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	return file{f, d, name}, nil
}

func (d *Dir) open(name string) (*os.File, error) {
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

// Lstat describes what bears the name, a link itself if it is one.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrInvalid}
	}
	return d.root.Lstat(name)
}

// ReadLink returns what a symbolic link says, wherever that leads.
func (d *Dir) ReadLink(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return d.root.Readlink(name)
}

// ReadDir lists a directory, sorted by name.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := d.open(name) // not with the root's own ReadDir, which a FIFO blocks
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return file{f, d, name}.sorted()
}

// servable refuses what is neither a regular file nor a directory.
func servable(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("neither a regular file nor a directory: %v", info.Mode().Type())}
}
