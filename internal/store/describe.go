package store

import (
	"io/fs"
	"iter"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

var _ vfs.DescribeFS = (*Dir)(nil)

// Describe implements [vfs.DescribeFS]. It opens the directory once and finds the entries from there. The
// error of an entry is fs.ErrNotExist if the entry was removed after the listing, or is a link that leads
// nowhere.
func (d *Dir) Describe(dir string, wanted func(name string) bool) iter.Seq2[[]vfs.Described, error] {
	return func(yield func([]vfs.Described, error) bool) {
		l, err := d.list(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.close()
		vfs.DescribeBatches(l.batches, wanted, func(found []vfs.Described) {
			for i := range found {
				found[i].Info, found[i].Err = l.stat(found[i].DirEntry)
			}
		})(yield)
	}
}

// listing is an open directory. stat describes an entry until close.
type listing struct {
	batches iter.Seq2[[]fs.DirEntry, error] // as vfs.List
	stat    func(fs.DirEntry) (fs.FileInfo, error)
	close   func()
}

// lister is a file system that describes the entries of a directory faster than by their paths.
type lister interface {
	list(dir string) (*listing, error)
}

func isLister(fsys fs.FS) bool {
	_, ok := fsys.(lister)
	return ok
}

// openListing opens a directory to list it.
func openListing(fsys fs.FS, dir string) (*listing, error) {
	if l, ok := fsys.(lister); ok {
		return l.list(dir)
	}
	return listByPath(fsys, dir), nil
}

// listByPath lists a directory of any file system.
func listByPath(fsys fs.FS, dir string) *listing {
	stat := func(e fs.DirEntry) (fs.FileInfo, error) { return fs.Stat(fsys, path.Join(dir, e.Name())) }
	return &listing{vfs.ListDir(fsys, dir), stat, func() {}}
}

// list implements [lister]. It keeps the directory open, so that stat needs no path.
func (d *Dir) list(dir string) (*listing, error) {
	b, ok := d.root.(*beneath)
	if !ok || !fs.ValidPath(dir) {
		return listByPath(d, dir), nil
	}
	fd, err := b.openat2(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == errUndecided {
		return listByPath(d, dir), nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	f := file{os.NewFile(uintptr(fd), path.Join(b.Name(), dir)), d, dir}
	conn, _ := f.SyscallConn() // fails for nil only
	stat := func(e fs.DirEntry) (fs.FileInfo, error) { return d.statIn(conn, path.Join(dir, e.Name()), e) }
	return &listing{vfs.Batches(f), stat, func() { f.Close() }}, nil
}

// statIn describes an entry of an open directory and follows links. name is its path.
func (d *Dir) statIn(dir syscall.RawConn, name string, e fs.DirEntry) (info fs.FileInfo, err error) {
	if e.Type()&fs.ModeSymlink == 0 {
		if closed := dir.Control(func(fd uintptr) { info, err = fstatat(int(fd), e.Name(), name) }); closed != nil {
			return nil, closed
		}
		switch {
		case err != nil:
			return nil, err
		case info.Mode()&fs.ModeSymlink == 0 && d.guard != nil:
			return d.guard.restrict(name, info, false)
		case info.Mode()&fs.ModeSymlink == 0:
			return info, nil
		}
	}
	return d.Stat(name) // a link may lead out of this directory, but not out of d
}
