package view

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wkwfs/wkwfs/vfs"
)

const errNotDir = syscall.ENOTDIR

// info describes an entry of the tree: a name, size and kind of its own, the rest
// from the file or directory of the source that it is made of.
type info struct {
	name   string
	size   int64
	stored int64 // bytes that it takes in the source
	mode   fs.FileMode
	base   fs.FileInfo
}

// fileInfo describes a file of size bytes made of base.
func fileInfo(name string, size int64, base fs.FileInfo) info {
	return info{name, size, vfs.StoredOf(base), base.Mode().Perm() &^ 0o333, base}
}

// dirInfo describes a directory made of base. Where base is a file, who may read
// the file may look into the directory.
func dirInfo(name string, base fs.FileInfo) info {
	perm := base.Mode().Perm() &^ 0o222
	if !base.IsDir() {
		perm &= 0o444
		perm |= perm >> 2
	}
	return info{name, 0, 0, fs.ModeDir | perm, base}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.base.ModTime() }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return i.base.Sys() }

// Stored implements vfs.StoredInfo.
func (i info) Stored() int64 { return i.stored }

// entry is a name in a listing; what else there is to know is looked up when asked.
type entry struct {
	name string
	node node
}

func (e entry) Name() string               { return e.name }
func (e entry) Info() (fs.FileInfo, error) { return e.node.stat() }
func (e entry) IsDir() bool                { _, ok := e.node.(directory); return ok }

func (e entry) Type() fs.FileMode {
	if e.IsDir() {
		return fs.ModeDir
	}
	return 0
}

func sortedList(d directory) ([]fs.DirEntry, error) {
	entries, err := d.list()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// listAs makes the entries of children, by their names.
func listAs(d directory, names []string, err error) ([]fs.DirEntry, error) {
	entries := make([]fs.DirEntry, 0, len(names))
	for _, name := range names {
		n, childErr := d.child(name)
		if childErr == nil { // what has gone since it was listed is not listed
			entries = append(entries, entry{name, n})
		}
	}
	return entries, err
}

// openedDir is a directory of the tree that was opened: its entries as they were then.
type openedDir struct {
	info    fs.FileInfo
	entries []fs.DirEntry
}

func openDir(name string, d directory) (fs.File, error) {
	info, err := d.stat()
	if err != nil {
		return nil, err
	}
	entries, err := sortedList(d)
	if err != nil {
		return nil, err
	}
	return &openedDir{info, entries}, nil
}

func (d *openedDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openedDir) Close() error               { return nil }

func (d *openedDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: syscall.EISDIR}
}

// ReadDir follows fs.ReadDirFile.
func (d *openedDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(d.entries) {
		if n > 0 && len(d.entries) == 0 {
			return nil, io.EOF
		}
		n = len(d.entries)
	}
	head := d.entries[:n]
	d.entries = d.entries[n:]
	return head, nil
}
