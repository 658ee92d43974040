package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/vfs"
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

// list opens the directory as a root of its own, so that an entry is found without its path.
func (d *Dir) list(dir string) (*listing, error) {
	root, ok := d.root.(*os.Root)
	if !ok || !fs.ValidPath(dir) {
		return listByPath(d, dir)
	}
	inside, err := root.OpenRoot(dir + "/.") // "/." is found in nothing but directories: a FIFO would block
	if err != nil {
		return nil, at(err, "open", dir)
	}
	entries, err := d.entriesOf(inside, dir)
	if err != nil && len(entries) == 0 {
		inside.Close()
		return nil, at(err, "readdir", dir)
	}
	stat := func(e fs.DirEntry) (fs.FileInfo, error) {
		if e.Type()&fs.ModeSymlink == 0 {
			info, err := inside.Lstat(e.Name())
			if err != nil {
				return nil, at(err, "stat", path.Join(dir, e.Name()))
			}
			if info.Mode()&fs.ModeSymlink == 0 {
				return info, nil
			}
		}
		return d.root.Stat(path.Join(dir, e.Name())) // it may lead out of the directory, but not out of the source
	}
	return &listing{entries, stat, func() { inside.Close() }}, err
}

// at returns an error with the path of what it is about.
func at(err error, op, name string) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (d *Dir) entriesOf(inside *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := inside.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return d.entries(f, dir)
}

// entries lists an open directory, sorted by name.
//
// A file that was opened in an os.Root describes each entry while it lists them, which takes an answer of the source
// for each. So another file of the same descriptor lists them.
func (d *Dir) entries(f *os.File, dir string) ([]fs.DirEntry, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	copied, failed := -1, error(nil)
	if err := conn.Control(func(fd uintptr) { copied, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, &fs.PathError{Op: "dup", Path: dir, Err: failed}
	}
	lister := os.NewFile(uintptr(copied), f.Name())
	defer lister.Close()
	entries, err := lister.ReadDir(-1)
	for i, e := range entries {
		entries[i] = entry{e, d, dir}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// entry is an entry of a directory, which is described where it is found, and not before that is asked for.
type entry struct {
	fs.DirEntry
	d   *Dir
	dir string
}

func (e entry) Info() (fs.FileInfo, error) { return e.d.Lstat(path.Join(e.dir, e.Name())) }
func (e entry) String() string             { return fs.FormatDirEntry(e) }
