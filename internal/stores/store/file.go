package store

import (
	"io/fs"
	"os"
	"path"

	"github.com/wkwfs/wkwfs/internal/vfs"
)

// file is an open file or directory. It implements vfs.Advisor.
type file struct {
	*os.File
	d    *Dir
	name string
}

// ReadDir implements fs.ReadDirFile.
func (f file) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := f.File.ReadDir(n)
	for i, e := range entries {
		entries[i] = entry{e, f.d, f.name}
	}
	return entries, err
}

// sorted returns all entries of a directory, sorted by name.
func (f file) sorted() ([]fs.DirEntry, error) {
	entries, err := f.ReadDir(-1)
	vfs.SortByName(entries)
	return entries, err
}

// entry is an entry of a directory. Info finds it by its path in the Dir, as Lstat does.
type entry struct {
	fs.DirEntry
	d   *Dir
	dir string
}

func (e entry) Info() (fs.FileInfo, error) { return e.d.Lstat(path.Join(e.dir, e.Name())) }
func (e entry) String() string             { return fs.FormatDirEntry(e) }

// WillNeed starts to read n bytes from byte offset off into the page cache.
func (f file) WillNeed(off, n int64) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { willNeed(int(fd), off, n) })
}
