package store

import (
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

var _ vfs.DescribeFS = (*Dir)(nil)

// Describe implements [vfs.DescribeFS]. It opens the directory once, and looks at its entries from there. An entry that
// has vanished since it was listed has an error that is fs.ErrNotExist, as a link has that leads nowhere.
func (d *Dir) Describe(dir string, wanted func(name string) bool) ([]vfs.Described, error) {
	l, err := d.list(dir)
	if l == nil {
		return nil, err
	}
	defer l.close()
	found := l.wanted(wanted)
	for i := range found {
		found[i].Info, found[i].Err = l.stat(found[i].DirEntry)
	}
	return found, err
}

// listing is a directory whose entries can be described.
type listing struct {
	entries []fs.DirEntry // sorted by name
	stat    func(fs.DirEntry) (fs.FileInfo, error)
	close   func()
}

// wanted returns the entries with these names, yet to be described.
func (l *listing) wanted(wanted func(name string) bool) []vfs.Described {
	found := make([]vfs.Described, 0, len(l.entries))
	for _, e := range l.entries {
		if wanted(e.Name()) {
			found = append(found, vfs.Described{DirEntry: e})
		}
	}
	return found
}

// lister is a file system that has a faster way to describe entries than by their paths.
type lister interface {
	list(dir string) (*listing, error)
}

func isLister(fsys fs.FS) bool {
	_, ok := fsys.(lister)
	return ok
}

// listed lists a directory. If only a part of it could be listed, it returns that and an error; if nothing, nil.
func listed(fsys fs.FS, dir string) (*listing, error) {
	if l, ok := fsys.(lister); ok {
		return l.list(dir)
	}
	return listByPath(fsys, dir)
}

// listByPath lists a directory of any file system.
func listByPath(fsys fs.FS, dir string) (*listing, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil && len(entries) == 0 {
		return nil, err
	}
	stat := func(e fs.DirEntry) (fs.FileInfo, error) { return fs.Stat(fsys, path.Join(dir, e.Name())) }
	return &listing{entries, stat, func() {}}, err
}

// list opens the directory, so that an entry is found without its path.
func (d *Dir) list(dir string) (*listing, error) {
	b, ok := d.root.(*beneath)
	if !ok || !fs.ValidPath(dir) {
		return listByPath(d, dir)
	}
	fd, err := b.find(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == errUndecided {
		return listByPath(d, dir)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	f := file{os.NewFile(uintptr(fd), path.Join(b.Name(), dir)), d, dir}
	entries, err := f.sorted()
	if err != nil && len(entries) == 0 {
		f.Close()
		return nil, err
	}
	conn, _ := f.SyscallConn() // it fails for nil
	stat := func(e fs.DirEntry) (fs.FileInfo, error) { return d.statIn(conn, path.Join(dir, e.Name()), e) }
	return &listing{entries, stat, func() { f.Close() }}, err
}

// statIn describes an entry of an open directory. name is its path.
func (d *Dir) statIn(opened syscall.RawConn, name string, e fs.DirEntry) (info fs.FileInfo, err error) {
	if e.Type()&fs.ModeSymlink == 0 {
		if closed := opened.Control(func(fd uintptr) { info, err = describe(int(fd), e.Name(), name) }); closed != nil {
			return nil, closed
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return info, err
		}
	}
	return d.root.Stat(name) // it may lead out of the directory, but not out of the source
}
