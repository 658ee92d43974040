package store

import (
	"io/fs"
	"iter"
	"path"

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
