package store

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// Dir is a directory as an fs.FS. It implements fs.StatFS, fs.ReadDirFS, fs.ReadLinkFS, vfs.ListFS and
// vfs.DescribeFS, and is safe for concurrent use.
type Dir struct {
	root  root
	guard *guard // nil: files have their own permissions
}

// root finds paths in a directory: [beneath] or [anywhere].
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
	_ vfs.ListFS    = (*Dir)(nil)

	_ vfs.KindChecker = (*Dir)(nil)
)

// Open opens a directory. No path leads out of it. The path of the directory itself may be a symbolic link.
func Open(path string) (*Dir, error) {
	if err := checkDir(path); err != nil { // before OpenRoot, which blocks on a FIFO
		return nil, err
	}
	confined, err := openBeneath(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root: confined}, nil
}

// OpenFollowing opens a directory whose symbolic links may lead out of it. It holds no file open: each
// request finds the directory by its path again.
func OpenFollowing(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := checkDir(path); err != nil {
		return nil, err
	}
	return &Dir{root: anywhere(path)}, nil
}

// Guard makes d describe each file with owner, group and permissions that allow only users who may also search every
// directory on the way to it. The way starts in d. Links, and names of several elements, may lead through directories
// that a mount does not show, so that the kernel does not check them. A file with an access control list is for its
// owner alone. A change of the permissions of a directory may show a second later.
//
// If whole, the way starts in "/". Guard must be called before d is used.
func (d *Dir) Guard(whole bool) {
	switch r := d.root.(type) {
	case *beneath:
		d.guard = guardBeneath(r)
	case anywhere:
		d.guard = guardAnywhere(string(r), whole)
	}
}

// checkDir returns an error if the path is no directory.
func checkDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return err
}

// anywhere is the path of a directory. Its links may lead anywhere.
type anywhere string

func (a anywhere) Stat(name string) (fs.FileInfo, error)  { return os.Stat(a.path(name)) }
func (a anywhere) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(a.path(name)) }
func (a anywhere) Readlink(name string) (string, error)   { return os.Readlink(a.path(name)) }
func (a anywhere) Close() error                           { return nil }

func (a anywhere) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(a.path(name), flag, perm)
}

func (a anywhere) path(name string) string { return filepath.Join(string(a), filepath.FromSlash(name)) }

// Close closes the directory. Open files stay open.
func (d *Dir) Close() error { return d.root.Close() }

// Open opens a regular file or a directory for reading. The error is fs.ErrInvalid if the name is not valid.
func (d *Dir) Open(name string) (fs.File, error) {
	f, err := d.open(name, 0)
	if err != nil {
		return nil, err
	}
	return file{f, d, name}, nil
}

// open opens a regular file or a directory. want is the type that an error for another kind of file names.
func (d *Dir) open(name string, want fs.FileMode) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	// The type is checked before the open, because opening a device can have an effect. It is checked again
	// after the open, which does not block, because the file may have been replaced by a FIFO in between.
	info, err := d.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := checkType(name, info, want); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = checkType(name, info, want)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ChecksKind implements [vfs.KindChecker].
func (d *Dir) ChecksKind() bool { return true }

// Stat describes a file. It follows links.
func (d *Dir) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	if d.guard == nil {
		return d.root.Stat(name)
	}
	info, err := d.root.Lstat(name)
	link := err == nil && info.Mode()&fs.ModeSymlink != 0
	if link {
		info, err = d.root.Stat(name)
	}
	if err != nil {
		return nil, err
	}
	return d.guard.restrict(name, info, link)
}

// Lstat describes a file. It does not follow a link in the last element of the name.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrInvalid}
	}
	return d.root.Lstat(name)
}

// ReadLink returns the target of a symbolic link, which may lie outside of the directory.
func (d *Dir) ReadLink(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return d.root.Readlink(name)
}

// ReadDir lists a directory, sorted by name.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := d.open(name, fs.ModeDir) // ReadDir of an os.Root blocks on a FIFO
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return file{f, d, name}.sorted()
}

// List implements [vfs.ListFS].
func (d *Dir) List(name string) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		f, err := d.open(name, fs.ModeDir)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		vfs.Batches(file{f, d, name})(yield)
	}
}

// checkType returns an error if a file is neither regular nor a directory.
func checkType(name string, info fs.FileInfo, want fs.FileMode) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return vfs.CheckKind(name, info, want)
}
