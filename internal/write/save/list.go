package save

import (
	"io/fs"
	"iter"
	"path"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// List implements vfs.ListFS.
func (f *FS) List(dir string) iter.Seq2[[]fs.DirEntry, error] {
	fresh, gone := f.changes(dir)
	if len(fresh) == 0 && len(gone) == 0 {
		return vfs.List(f.FS, dir)
	}
	return func(yield func([]fs.DirEntry, error) bool) {
		all := fresh
		for batch, err := range vfs.List(f.FS, dir) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range batch {
				if !gone[e.Name()] {
					all = append(all, e)
				}
			}
		}
		vfs.SortByName(all)
		for ; len(all) > vfs.BatchSize; all = all[vfs.BatchSize:] {
			if !yield(all[:vfs.BatchSize], nil) {
				return
			}
		}
		yield(all, nil)
	}
}

// changes returns the new files of a directory, and the names of the tree that are not shown there.
func (f *FS) changes(dir string) (fresh []fs.DirEntry, gone map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone = map[string]bool{}
	for name, s := range f.files {
		if path.Dir(name) == dir {
			fresh = append(fresh, fs.FileInfoToDirEntry(s))
			gone[path.Base(name)] = true
		}
	}
	for _, name := range f.hidden {
		if path.Dir(name) == dir {
			gone[path.Base(name)] = true
		}
	}
	return fresh, gone
}

// ReadDir implements fs.ReadDirFS.
func (f *FS) ReadDir(dir string) (all []fs.DirEntry, err error) {
	for batch, err := range f.List(dir) {
		if err != nil {
			return nil, err
		}
		all = append(all, batch...)
	}
	vfs.SortByName(all)
	return all, nil
}
